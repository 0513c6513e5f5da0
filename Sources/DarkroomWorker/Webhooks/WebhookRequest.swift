import DarkroomCoding
import DarkroomModel

/// What is sent when a batch has finished.
struct WebhookRequest {
    /// Header lines.
    let headers: [String]
    /// JSON.
    let body: [UInt8]

    /// A request about `round` of a batch.
    /// - Parameters:
    ///   - now: ms since 1970 of the Redis clock.
    ///   - secret: what the receiver knows, too; nil sends no signature.
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

/// When a webhook that was not delivered is tried again.
enum WebhookSchedule {
    /// How many times it is tried at most.
    static let maxAttempts = 20
    private static let pauses: [Duration] = [.seconds(5), .seconds(25), .seconds(120), .seconds(600)]

    /// How long to wait after the failed attempt number `attempt`, counted from 1; nil when it was the last.
    static func pause(after attempt: Int) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        return attempt <= pauses.count ? pauses[max(1, attempt) - 1] : .seconds(3600)
    }
}
