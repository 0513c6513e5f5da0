import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// The reply of a script to a message, in a form that can be compared.
enum Answer: Equatable {
    case submit(SubmitReply)
    case feed(FeedReply)
    case seal(SealReply)
    case claim(ClaimReply)
    case heartbeat(HeartbeatReply)
    case report(ReportReply)
    case release(ReleaseReply)
    case forget(ForgetReply)
    case cancel(CancelReply)
    case cancelPhotos(CancelPhotosReply)
    case control(ControlReply)
    case focus(FocusReply)
    case limited(Bool)
    case addDependency(AddDependencyReply)
    case removeDependency(RemoveDependencyReply)
    case retry(RetryReply)
    case restoreEntry(RestoreEntryReply)
    case grow(GrowReply)
    case takeWebhook(TakeWebhookReply)
    case webhookAttempt(Bool)
    /// The number of corrections.
    case repair(Int)
    /// The reply of `leave` and `expireLeases`, which has no content.
    case done
    /// The script rejected its arguments.
    case rejected
}

extension Answer {
    /// The turn that the reply contains.
    var turn: Int? {
        switch self {
        case .claim(.claimed(let claimed)): claimed.turn
        case .heartbeat(let reply): reply.turn
        default: nil
        }
    }

    /// This reply without the turn and the time of the next repair, which the model does not predict.
    var withoutTurn: Answer {
        switch self {
        case .claim(.claimed(var claimed)):
            claimed.turn = 0
            return .claim(.claimed(claimed))
        case .heartbeat(var reply):
            reply.turn = 0
            reply.isRepairDue = false
            return .heartbeat(reply)
        default: return self
        }
    }
}

extension Answer: CustomStringConvertible {
    /// The text in the log of a run.
    var description: String {
        func text(_ stateCodes: [UInt8]) -> String { PhotoState.text(ofStateCodes: stateCodes) }
        switch self {
        case .submit(let reply): return "\(reply)"
        case .feed(let reply): return "\(reply)"
        case .seal(let reply): return "\(reply)"
        case .claim(.old): return "old"
        case .claim(.claimed(let claimed)):
            let operations = claimed.operations.map {
                "\($0.held.batch)/\($0.held.number) under \($0.held.fencingToken) "
                    + "\(text($0.stateCodes)) \($0.leaseExpiries) lease expiries \"\(text($0.entry))\""
            }
            return "\(operations), lost \(Self.text(claimed.lost)), next \"\(claimed.next)\", "
                + "version \(claimed.version), \(claimed.cluster) \(claimed.controls)"
        case .heartbeat(let reply):
            let stateCodes = reply.stateCodes.map { "\($0.batch)/\($0.number) \(text($0.stateCodes))" }
            return "lost \(Self.text(reply.lost)), version \(reply.version), \(reply.cluster) \(reply.controls), "
                + "state codes \(stateCodes), webhooks \(reply.webhooks), more \(reply.hasMore)"
                + (reply.staleFiles.map { ", left \(Self.text([$0]))" } ?? "")
        case .report(.accepted(let ended, let stateCodes, let version)):
            return (ended ? "ended" : "accepted") + (stateCodes.map { " " + text($0) } ?? "") + ", version \(version)"
        case .report(.ended(let stateCodes)), .release(.ended(let stateCodes)): return "had ended " + text(stateCodes)
        case .report(.cancelled(let stateCodes)), .release(.cancelled(let stateCodes)):
            return "was cancelled " + text(stateCodes)
        case .report(let reply): return "\(reply)"
        case .release(let reply): return "\(reply)"
        case .forget(let reply): return "\(reply)"
        case .cancel(let reply): return "\(reply)"
        case .cancelPhotos(let reply): return "\(reply)"
        case .control(let reply): return "\(reply)"
        case .focus(let reply): return "\(reply)"
        case .limited(let isNew): return isNew ? "limited" : "limited before"
        case .addDependency(let reply): return "\(reply)"
        case .removeDependency(let reply): return "\(reply)"
        case .retry(let reply): return "\(reply)"
        case .restoreEntry(let reply): return "\(reply)"
        case .grow(let reply): return "\(reply)"
        case .takeWebhook(let reply): return "\(reply)"
        case .webhookAttempt(let isDone): return isDone ? "ended" : "taken by another"
        case .repair(let repairs): return "\(repairs) repairs"
        case .done: return "done"
        case .rejected: return "rejected with an error"
        }
    }

    /// The kind of the reply, without numbers.
    var kind: String {
        switch self {
        case .submit(.submitted): "submit: submitted"
        case .submit(.exists): "submit: exists"
        case .submit(.forgotten): "submit: forgotten"
        case .submit(.outputTaken): "submit: output taken"
        case .submit(.nameTaken): "submit: name taken"
        case .submit(.gone): "submit: gone"
        case .feed(.expects): "feed: expects"
        case .feed(let reply): "feed: \(reply)"
        case .seal(.differs): "seal: differs"
        case .seal(let reply): "seal: \(reply)"
        case .claim(.old): "claim: old"
        case .claim(.claimed(let claimed)):
            "claim: \(claimed.operations.isEmpty ? "nothing" : "operations")\(claimed.lost.isEmpty ? "" : ", lost")"
        case .heartbeat(let reply):
            "heartbeat" + (reply.lost.isEmpty ? "" : ", lost") + (reply.stateCodes.isEmpty ? "" : ", state codes")
                + (reply.webhooks.isEmpty ? "" : ", webhooks") + (reply.hasMore ? ", more" : "")
                + (reply.staleFiles == nil ? "" : ", staleFiles")
        case .report(.accepted(let ended, let stateCodes, _)):
            "report: \(ended ? "ended it" : "accepted")\(stateCodes == nil ? "" : ", differs")"
        case .report(.ended): "report: had ended"
        case .report(.cancelled): "report: cancelled"
        case .report(let reply): "report: \(reply)"
        case .release(.ended): "release: had ended"
        case .release(.cancelled): "release: cancelled"
        case .release(let reply): "release: \(reply)"
        case .forget(.unfinished): "forget: unfinished"
        case .forget(let reply): "forget: \(reply)"
        case .repair(let repairs): "repair: \(repairs == 0 ? "nothing" : "something")"
        case .done: "done"
        case .rejected: "rejected"
        default: controlKind
        }
    }

    private var controlKind: String {
        switch self {
        case .cancel(.cancelled(let isNew, let isFinished)):
            "cancel: \(isNew ? "cancelled" : "before")\(isFinished ? ", finished" : "")"
        case .cancel(let reply): "cancel: \(reply)"
        case .cancelPhotos(.cancelled(let count, let final)):
            "cancel photos: \(count > 0 ? "some" : "none")\(final > 0 ? ", final ones" : "")"
        case .cancelPhotos(.notFed): "cancel photos: not fed"
        case .cancelPhotos(let reply): "cancel photos: \(reply)"
        case .control(.done(let isNew)): "control: \(isNew ? "done" : "before")"
        case .control(let reply): "control: \(reply)"
        case .focus(.done(let isNew, _)): "focus: \(isNew ? "done" : "before")"
        case .focus(let reply): "focus: \(reply)"
        case .limited(let isNew): "limits: \(isNew ? "done" : "before")"
        case .addDependency(.added(let isNew)): "addDependency: \(isNew ? "added" : "before")"
        case .addDependency(.gone): "addDependency: gone"
        case .addDependency(let reply): "addDependency: \(reply)"
        case .removeDependency(.removed(let isNew)): "removeDependency: \(isNew ? "removed" : "before")"
        case .removeDependency(.gone): "removeDependency: gone"
        case .retry(.retried(let photos, let notKept, _)):
            "retry: \(photos > 0 ? "some" : "none")\(notKept > 0 ? ", not kept" : "")"
        case .retry(.outputTaken): "retry: output taken"
        case .retry(let reply): "retry: \(reply)"
        case .restoreEntry(let reply): "restore: \(reply)"
        case .grow(.outputTaken): "grow: output taken"
        case .grow(let reply): "grow: \(reply)"
        case .takeWebhook(.taken): "webhook: taken"
        case .takeWebhook(.moved): "webhook: moved"
        case .webhookAttempt(let isDone): "webhook: \(isDone ? "ended" : "not ended")"
        default: description
        }
    }

    /// All kinds of replies that a long run produces.
    static let kinds: Set = [
        "submit: submitted", "submit: exists", "submit: forgotten", "submit: output taken", "submit: name taken",
        "submit: gone",
        "feed: fed", "feed: gone",
        "feed: expects", "feed: sealed", "feed: short", "feed: full", "feed: cancelled", "seal: sealed", "seal: gone",
        "seal: differs", "seal: cancelled", "claim: old", "claim: nothing", "claim: operations", "claim: nothing, lost",
        "claim: operations, lost", "heartbeat", "heartbeat, lost", "heartbeat, state codes", "heartbeat, webhooks",
        "report: accepted", "report: accepted, differs", "report: ended it", "report: ended it, differs",
        "report: gone", "report: lost", "report: had ended", "report: cancelled", "release: queued",
        "release: gone", "release: lost", "release: had ended", "release: cancelled", "forget: forgotten",
        "forget: gone", "forget: unfinished", "cancel: cancelled", "cancel: cancelled, finished", "cancel: before",
        "cancel: before, finished", "cancel: finished", "cancel: gone", "cancel photos: some",
        "cancel photos: some, final ones", "cancel photos: none, final ones", "cancel photos: not fed",
        "cancel photos: finished", "cancel photos: cancelledBefore", "cancel photos: gone", "control: done",
        "control: before", "control: finished", "control: cancelled", "control: gone", "focus: done", "focus: before",
        "focus: finished", "focus: cancelled", "focus: gone", "limits: done", "limits: before", "addDependency: added",
        "addDependency: before", "addDependency: finishedBefore", "addDependency: failedBefore",
        "addDependency: started", "addDependency: cancelled",
        "addDependency: moved", "addDependency: gone", "addDependency: itself", "removeDependency: removed",
        "removeDependency: before", "removeDependency: gone",
        "retry: some", "retry: some, not kept", "retry: none", "retry: none, not kept", "retry: cancelled",
        "retry: busy", "retry: output taken", "retry: gone", "restore: restored", "restore: notNeeded", "restore: gone",
        "webhook: taken", "grow: grown", "grow: gone", "grow: cancelled", "grow: differs", "grow: busy",
        "grow: output taken",
        "webhook: moved", "webhook: ended", "webhook: not ended", "repair: nothing", "done", "rejected",
    ]

    private static func text(_ lost: [HeldOperation]) -> [String] {
        lost.map { "\($0.batch)/\($0.number) under \($0.fencingToken)" }
    }
}
