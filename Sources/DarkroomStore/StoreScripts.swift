import DarkroomRedis

/// The Lua scripts, one for each change of state; their KEYS, ARGV and replies are documented at the head of each file.
///
/// A line `--#include NAME` stands for the text of another file, so that scripts share steps without the cost of closures.
enum StoreScripts {
    static let submit = script("submit.lua", PackageResources.submit_lua)
    static let feed = script("feed.lua", PackageResources.feed_lua)
    static let feeder = script("feeder.lua", PackageResources.feeder_lua)
    static let seal = script("seal.lua", PackageResources.seal_lua)
    static let claim = script("claim.lua", PackageResources.claim_lua)
    static let heartbeat = script("heartbeat.lua", PackageResources.heartbeat_lua)
    static let report = script("report.lua", PackageResources.report_lua)
    static let handback = script("handback.lua", PackageResources.handback_lua)
    static let forget = script("forget.lua", PackageResources.forget_lua)
    static let expire = script("expire.lua", PackageResources.expire_lua)
    static let leave = script("leave.lua", PackageResources.leave_lua)
    static let cancel = script("cancel.lua", PackageResources.cancel_lua)
    static let cancelPhotos = script("cancelphotos.lua", PackageResources.cancelphotos_lua)
    static let suspend = script("suspend.lua", PackageResources.suspend_lua)
    static let prioritize = script("prioritize.lua", PackageResources.prioritize_lua)
    static let focus = script("focus.lua", PackageResources.focus_lua)
    static let limits = script("limits.lua", PackageResources.limits_lua)
    static let depend = script("depend.lua", PackageResources.depend_lua)
    static let undepend = script("undepend.lua", PackageResources.undepend_lua)
    static let retry = script("retry.lua", PackageResources.retry_lua)
    static let restore = script("restore.lua", PackageResources.restore_lua)
    static let grow = script("grow.lua", PackageResources.grow_lua)
    static let webhook = script("webhook.lua", PackageResources.webhook_lua)
    static let identify = script("identify.lua", PackageResources.identify_lua)

    static let all = [
        submit, feed, feeder, seal, claim, heartbeat, report, handback, forget, expire, leave,
        cancel, cancelPhotos, suspend, prioritize, focus, limits, depend, undepend, retry, restore, grow, webhook,
        identify,
    ]

    private static let includes: [String: [UInt8]] = [
        "fields.lua": PackageResources.fields_lua,
        "time.lua": PackageResources.time_lua,
        "sound.lua": PackageResources.sound_lua,
        "ring.lua": PackageResources.ring_lua,
        "offer.lua": PackageResources.offer_lua,
        "finish.lua": PackageResources.finish_lua,
        "expiring.lua": PackageResources.expiring_lua,
        "renew.lua": PackageResources.renew_lua,
        "requeue.lua": PackageResources.requeue_lua,
        "forgetting.lua": PackageResources.forgetting_lua,
        "housekeeping.lua": PackageResources.housekeeping_lua,
        "steering.lua": PackageResources.steering_lua,
        "cluster.lua": PackageResources.cluster_lua,
        "changed.lua": PackageResources.changed_lua,
        "clusterchanged.lua": PackageResources.clusterchanged_lua,
        "urgent.lua": PackageResources.urgent_lua,
        "stand.lua": PackageResources.stand_lua,
        "cancelling.lua": PackageResources.cancelling_lua,
        "readying.lua": PackageResources.readying_lua,
        "releasing.lua": PackageResources.releasing_lua,
        "reopening.lua": PackageResources.reopening_lua,
        "taking.lua": PackageResources.taking_lua,
        "retaking.lua": PackageResources.retaking_lua,
    ]

    private static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: Array(expanded(source).utf8))
    }

    private static func expanded(_ source: [UInt8]) -> String {
        let lines = String(decoding: source, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            guard line.hasPrefix("--#include ") else { return String(line) }
            guard let included = includes[String(line.dropFirst("--#include ".count))] else {
                preconditionFailure("a script includes a file that is not there: \(line)")  // seen by every test
            }
            return expanded(included)
        }.joined(separator: "\n")
    }
}
