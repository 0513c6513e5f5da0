import DarkroomCoding
import DarkroomModel

/// The request that is sent to a webhook when a batch has finished.
struct WebhookRequest {
    let headers: [String]
    let body: [UInt8]

    /// Creates the request that reports a finished round of a batch.
    /// - Parameters:
    ///   - now: the Redis time, in milliseconds since 1970.
    ///   - secret: the secret shared with the receiver; nil sends no signature.
    init(_ batch: BatchFacts, round: Int, now: Int, secret: [UInt8]?) {
        let json: JSON = [
            "event": .string("completion"), "round": .int(round), "batch": JSON(batch, now: now),
        ]
        var body: [UInt8] = []
        json.append(to: &body)
        self.body = body
        let timestamp = String(now / 1000)
        var headers = [
            "Content-Type: application/json", "User-Agent: darkroom/\(darkroomVersion)", "Darkroom-Event: completion",
            "Darkroom-Delivery: \(batch.id).\(round)", "Darkroom-Timestamp: \(timestamp)",
        ]
        if let secret {
            let code = HMACSHA256.code(of: Array("\(timestamp).".utf8) + body, secret: secret)
            headers.append("Darkroom-Signature: sha256=\(Hexadecimal.text(code))")
        }
        self.headers = headers
    }
}

/// The times at which a failed delivery of a webhook is tried again.
enum WebhookSchedule {
    /// The largest number of attempts to deliver a webhook.
    static let maxAttempts = 20
    private static let pauses: [Duration] = [.seconds(5), .seconds(25), .seconds(120), .seconds(600)]

    /// The pause after the failed attempt number `attempt`, counted from 1; nil after the last attempt.
    static func pause(after attempt: Int) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        return attempt <= pauses.count ? pauses[max(1, attempt) - 1] : .seconds(3600)
    }
}
