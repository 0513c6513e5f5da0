extension BatchStore {
    /// Takes a webhook that is due, and counts an attempt.
    /// - Parameters:
    ///   - due: the webhook, as a heartbeat listed it.
    ///   - duration: how long the caller has for the attempt before others may take the webhook.
    package func takeWebhook(_ due: DueWebhook, for duration: Duration) -> ScriptCall<TakeWebhookReply> {
        call(StoreScripts.webhook, [due.member, due.score, duration.wholeMilliseconds, true])
    }

    /// Ends an attempt: the webhook is done, or the next attempt follows after `delay`.
    /// - Parameters:
    ///   - member: ``DueWebhook/member``.
    ///   - score: the score from ``takeWebhook(_:for:)``.
    ///   - delay: until the next attempt; nil if there is none.
    /// - Returns: false if others have taken it meanwhile.
    package func endWebhookAttempt(_ member: String, score: Int, retryAfter delay: Duration?) -> ScriptCall<Bool> {
        let milliseconds = delay.map { String($0.wholeMilliseconds) } ?? ""
        return call(StoreScripts.webhook, [member, score, milliseconds, false]) { reply throws(StoreError) in
            reply.status == "OK"
        }
    }
}

package enum TakeWebhookReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The webhook is the caller's until `score`; this is attempt number `attempts`.
    case taken(attempts: Int, score: Int)
    /// Another worker has it, or it is done.
    case moved

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .taken(attempts: try reply.int(1), score: try reply.int(2))
        case "MOVED": self = .moved
        default: throw reply.unexpected
        }
    }
}
