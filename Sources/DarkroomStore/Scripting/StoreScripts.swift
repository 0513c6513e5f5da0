import DarkroomRedis

/// The Lua scripts of the store, one script for each operation. The Swift file of an operation declares its script and
/// its call. The comment at the top of the Lua file lists the keys, arguments and replies. ``ScriptText`` describes how
/// scripts share steps and names.
enum StoreScripts {
    /// The scripts that a connection loads.
    static let all = [
        addDependency, cancel, cancelPhotos, claim, expireLeases, feed, feederHeartbeat, focus, forget, grow, heartbeat,
        identify, leave, limits, prioritize, release, removeDependency, report, restoreEntry, retry, seal, submit,
        suspend,
        webhook,
    ]

    /// The text of each step, by file name.
    static let steps: [String: [UInt8]] = [
        "batch_controls.lua": PackageResources.batch_controls_lua,
        "cancel_batch.lua": PackageResources.cancel_batch_lua,
        "check_batch.lua": PackageResources.check_batch_lua,
        "clocks.lua": PackageResources.clocks_lua,
        "cluster_controls.lua": PackageResources.cluster_controls_lua,
        "delete_step.lua": PackageResources.delete_step_lua,
        "finish_batch.lua": PackageResources.finish_batch_lua,
        "maintenance.lua": PackageResources.maintenance_lua,
        "mark_ready.lua": PackageResources.mark_ready_lua,
        "notify_work.lua": PackageResources.notify_work_lua,
        "now.lua": PackageResources.now_lua,
        "prelude.lua": PackageResources.prelude_lua,
        "publish_batch_controls.lua": PackageResources.publish_batch_controls_lua,
        "publish_cluster_controls.lua": PackageResources.publish_cluster_controls_lua,
        "read_batch.lua": PackageResources.read_batch_lua,
        "ready_add.lua": PackageResources.ready_add_lua,
        "ready_sync.lua": PackageResources.ready_sync_lua,
        "release_dependents.lua": PackageResources.release_dependents_lua,
        "renew_leases.lua": PackageResources.renew_leases_lua,
        "reopen_batch.lua": PackageResources.reopen_batch_lua,
        "requeue_operation.lua": PackageResources.requeue_operation_lua,
        "reset_notify_throttle.lua": PackageResources.reset_notify_throttle_lua,
        "retake_output.lua": PackageResources.retake_output_lua,
        "schedule_deletion.lua": PackageResources.schedule_deletion_lua,
        "take_output.lua": PackageResources.take_output_lua,
    ]

    /// The script of an operation, with the steps that it includes.
    static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
        var text = ScriptText(steps: steps)
        return RedisScript(name: name, source: Array(text.expanded(source).utf8))
    }
}
