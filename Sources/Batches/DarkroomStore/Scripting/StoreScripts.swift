import DarkroomRedis

/// The Lua scripts of the store, in the folder `Scripts/Lua`. `Scripts/NAME.swift` contains the function that calls the
/// script `Scripts/Lua/NAME.lua`; the head of the Lua file lists KEYS, ARGV, replies, and the roles that call the script.
/// ``ScriptText`` describes how scripts share steps and names.
///
/// Each script has one property. There is no other list of the scripts.
struct StoreScripts: Sendable {
    static let shared = StoreScripts()

    /// All scripts. Each connection loads them.
    static let all = Mirror(reflecting: shared).children.compactMap { $0.value as? RedisScript }

    let addDependency = script("AddDependency.lua", PackageResources.AddDependency_lua)
    let cancel = script("Cancel.lua", PackageResources.Cancel_lua)
    let cancelPhotos = script("CancelPhotos.lua", PackageResources.CancelPhotos_lua)
    let claim = script("Claim.lua", PackageResources.Claim_lua)
    let expireLeases = script("ExpireLeases.lua", PackageResources.ExpireLeases_lua)
    let feed = script("Feed.lua", PackageResources.Feed_lua)
    let feederHeartbeat = script("FeederHeartbeat.lua", PackageResources.FeederHeartbeat_lua)
    let focus = script("Focus.lua", PackageResources.Focus_lua)
    let forget = script("Forget.lua", PackageResources.Forget_lua)
    let grow = script("Grow.lua", PackageResources.Grow_lua)
    let heartbeat = script("Heartbeat.lua", PackageResources.Heartbeat_lua)
    let identify = script("Identify.lua", PackageResources.Identify_lua)
    let leave = script("Leave.lua", PackageResources.Leave_lua)
    let limits = script("Limits.lua", PackageResources.Limits_lua)
    let prioritize = script("Prioritize.lua", PackageResources.Prioritize_lua)
    let release = script("Release.lua", PackageResources.Release_lua)
    let removeDependency = script("RemoveDependency.lua", PackageResources.RemoveDependency_lua)
    let repair = script("Repair.lua", PackageResources.Repair_lua)
    let report = script("Report.lua", PackageResources.Report_lua)
    let restoreEntry = script("RestoreEntry.lua", PackageResources.RestoreEntry_lua)
    let retry = script("Retry.lua", PackageResources.Retry_lua)
    let seal = script("Seal.lua", PackageResources.Seal_lua)
    let shareHosts = script("ShareHosts.lua", PackageResources.ShareHosts_lua)
    let submit = script("Submit.lua", PackageResources.Submit_lua)
    let suspend = script("Suspend.lua", PackageResources.Suspend_lua)
    let webhook = script("Webhook.lua", PackageResources.Webhook_lua)

    /// The text of each step, by file name.
    static let steps: [String: [UInt8]] = [
        "add_totals.lua": PackageResources.add_totals_lua,
        "advance_clocks.lua": PackageResources.advance_clocks_lua,
        "are_sums_sound.lua": PackageResources.are_sums_sound_lua,
        "batch_controls.lua": PackageResources.batch_controls_lua,
        "batch_fields.lua": PackageResources.batch_fields_lua,
        "begin_pace.lua": PackageResources.begin_pace_lua,
        "cancel_batch.lua": PackageResources.cancel_batch_lua,
        "cluster_controls.lua": PackageResources.cluster_controls_lua,
        "finish_batch.lua": PackageResources.finish_batch_lua,
        "forget_expired.lua": PackageResources.forget_expired_lua,
        "forget_step.lua": PackageResources.forget_step_lua,
        "is_valid_batch.lua": PackageResources.is_valid_batch_lua,
        "list_batch.lua": PackageResources.list_batch_lua,
        "maintain.lua": PackageResources.maintain_lua,
        "mark_ready.lua": PackageResources.mark_ready_lua,
        "most_kept.lua": PackageResources.most_kept_lua,
        "next_due.lua": PackageResources.next_due_lua,
        "notify_idle.lua": PackageResources.notify_idle_lua,
        "notify_work.lua": PackageResources.notify_work_lua,
        "prelude.lua": PackageResources.prelude_lua,
        "publish_batch_controls.lua": PackageResources.publish_batch_controls_lua,
        "publish_cluster_controls.lua": PackageResources.publish_cluster_controls_lua,
        "publish_event.lua": PackageResources.publish_event_lua,
        "ready_add.lua": PackageResources.ready_add_lua,
        "ready_sync.lua": PackageResources.ready_sync_lua,
        "release_dependents.lua": PackageResources.release_dependents_lua,
        "renew_leases.lua": PackageResources.renew_leases_lua,
        "reopen_batch.lua": PackageResources.reopen_batch_lua,
        "requeue_expired.lua": PackageResources.requeue_expired_lua,
        "requeue_operation.lua": PackageResources.requeue_operation_lua,
        "reset_notify_throttle.lua": PackageResources.reset_notify_throttle_lua,
        "resume_deferred.lua": PackageResources.resume_deferred_lua,
        "retake_output.lua": PackageResources.retake_output_lua,
        "running_workers.lua": PackageResources.running_workers_lua,
        "sample_history.lua": PackageResources.sample_history_lua,
        "sample_pace.lua": PackageResources.sample_pace_lua,
        "schedule_deletion.lua": PackageResources.schedule_deletion_lua,
        "server_time.lua": PackageResources.server_time_lua,
        "take_output.lua": PackageResources.take_output_lua,
    ]

    /// The script of a file, with the steps that it includes.
    private static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
        var text = ScriptText(steps: steps)
        return RedisScript(name: name, source: Array(text.expanded(source).utf8))
    }
}
