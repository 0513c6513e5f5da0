extension BatchStore {
    /// Reserves a due webhook for the caller, and counts an attempt to call it.
    /// - Parameters:
    ///   - due: the webhook, from the reply of a heartbeat.
    ///   - duration: the time for the attempt; after this time, another worker may take the webhook.
    package func takeWebhook(_ due: DueWebhook, for duration: Duration) -> ScriptCall<TakeWebhookReply> {
        call(\.webhook, [due.member, due.score, duration.wholeMilliseconds, true])
    }

    /// Ends an attempt: removes the webhook, or schedules the next attempt.
    /// - Parameters:
    ///   - member: the ``DueWebhook/member`` of the webhook.
    ///   - score: the score that ``takeWebhook(_:for:)`` returned.
    ///   - delay: the time until the next attempt; nil removes the webhook.
    /// - Returns: false if another worker has taken the webhook since this worker reserved it.
    package func endWebhookAttempt(_ member: String, score: Int, retryAfter delay: Duration?) -> ScriptCall<Bool> {
        let milliseconds = delay.map { String($0.wholeMilliseconds) } ?? ""
        return call(\.webhook, [member, score, milliseconds, false]) { reply throws(StoreError) in
            reply.status == "OK"
        }
    }
}

package enum TakeWebhookReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The webhook is reserved for the caller until `score`. `attempts` is the number of this attempt.
    case taken(attempts: Int, score: Int)
    /// Another worker has taken the webhook, or the webhook has been removed.
    case moved

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .taken(attempts: try reply.int(1), score: try reply.int(2))
        case "MOVED": self = .moved
        default: throw reply.unexpected
        }
    }
}
