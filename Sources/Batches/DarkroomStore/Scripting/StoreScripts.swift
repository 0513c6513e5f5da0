import DarkroomRedis

/// The Lua scripts of the store, in the folder Operations. The Swift file beside a script contains the function that
/// calls the script; the head of the Lua file lists KEYS, ARGV and replies. ``ScriptText`` describes how scripts share
/// steps and names.
enum StoreScripts {
    static let addDependency = script("AddDependency.lua", PackageResources.AddDependency_lua)
    static let cancel = script("Cancel.lua", PackageResources.Cancel_lua)
    static let cancelPhotos = script("CancelPhotos.lua", PackageResources.CancelPhotos_lua)
    static let claim = script("Claim.lua", PackageResources.Claim_lua)
    static let expireLeases = script("ExpireLeases.lua", PackageResources.ExpireLeases_lua)
    static let feed = script("Feed.lua", PackageResources.Feed_lua)
    static let feederHeartbeat = script("FeederHeartbeat.lua", PackageResources.FeederHeartbeat_lua)
    static let focus = script("Focus.lua", PackageResources.Focus_lua)
    static let forget = script("Forget.lua", PackageResources.Forget_lua)
    static let grow = script("Grow.lua", PackageResources.Grow_lua)
    static let heartbeat = script("Heartbeat.lua", PackageResources.Heartbeat_lua)
    static let identify = script("Identify.lua", PackageResources.Identify_lua)
    static let leave = script("Leave.lua", PackageResources.Leave_lua)
    static let limits = script("Limits.lua", PackageResources.Limits_lua)
    static let prioritize = script("Prioritize.lua", PackageResources.Prioritize_lua)
    static let release = script("Release.lua", PackageResources.Release_lua)
    static let removeDependency = script("RemoveDependency.lua", PackageResources.RemoveDependency_lua)
    static let repair = script("Repair.lua", PackageResources.Repair_lua)
    static let report = script("Report.lua", PackageResources.Report_lua)
    static let restoreEntry = script("RestoreEntry.lua", PackageResources.RestoreEntry_lua)
    static let retry = script("Retry.lua", PackageResources.Retry_lua)
    static let seal = script("Seal.lua", PackageResources.Seal_lua)
    static let shareHosts = script("ShareHosts.lua", PackageResources.ShareHosts_lua)
    static let submit = script("Submit.lua", PackageResources.Submit_lua)
    static let suspend = script("Suspend.lua", PackageResources.Suspend_lua)
    static let webhook = script("Webhook.lua", PackageResources.Webhook_lua)

    static let all = [
        addDependency, cancel, cancelPhotos, claim, expireLeases, feed, feederHeartbeat, focus, forget, grow, heartbeat,
        identify, leave, limits, prioritize, release, removeDependency, repair, report, restoreEntry, retry, seal,
        shareHosts, submit, suspend, webhook,
    ]

    /// The text of each step, by file name.
    static let steps: [String: [UInt8]] = [
        "add_totals.lua": PackageResources.add_totals_lua,
        "batch_controls.lua": PackageResources.batch_controls_lua,
        "begin_pace.lua": PackageResources.begin_pace_lua,
        "cancel_batch.lua": PackageResources.cancel_batch_lua,
        "check_batch.lua": PackageResources.check_batch_lua,
        "check_sums.lua": PackageResources.check_sums_lua,
        "clocks.lua": PackageResources.clocks_lua,
        "cluster_controls.lua": PackageResources.cluster_controls_lua,
        "delete_step.lua": PackageResources.delete_step_lua,
        "finish_batch.lua": PackageResources.finish_batch_lua,
        "list_batch.lua": PackageResources.list_batch_lua,
        "maintenance.lua": PackageResources.maintenance_lua,
        "mark_ready.lua": PackageResources.mark_ready_lua,
        "notify_idle.lua": PackageResources.notify_idle_lua,
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
        "resume_deferred.lua": PackageResources.resume_deferred_lua,
        "retake_output.lua": PackageResources.retake_output_lua,
        "sample_history.lua": PackageResources.sample_history_lua,
        "sample_pace.lua": PackageResources.sample_pace_lua,
        "schedule_deletion.lua": PackageResources.schedule_deletion_lua,
        "take_output.lua": PackageResources.take_output_lua,
    ]

    /// The script of an operation, with the steps that it includes.
    private static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
        var text = ScriptText(steps: steps)
        return RedisScript(name: name, source: Array(text.expanded(source).utf8))
    }
}
