import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Foundation

@testable import DarkroomStore

/// Receives the messages on the channels of a namespace with a real subscription. The listener publishes a mark; when
/// it receives the mark, it has received all earlier messages.
final class Listener: Sendable {
    /// A decoded message.
    struct Message: CustomStringConvertible {
        var text: String
        var fields: [String: Any]

        /// The name of the event, or the subject of the change notice.
        var name: String { fields["event"] as? String ?? fields["change"] as? String ?? "" }
        var batch: BatchID? { (fields["batch"] as? String).flatMap { BatchID($0) } }
        var value: Bool? { fields["value"] as? Bool }
        func int(_ field: String) -> Int? { fields[field] as? Int }
        func string(_ field: String) -> String? { fields[field] as? String }
        var description: String { text }
    }

    private let store: BatchStore
    private let heard = Locked<[(channel: String, text: String)]>([])
    private let signal = DispatchSemaphore(value: 0)
    private let subscription: RedisSubscription

    init(_ store: BatchStore) throws {
        self.store = store
        let (heard, signal) = (heard, signal)
        let channels = [store.keys.controlChannel, store.keys.eventsChannel]
        subscription = RedisSubscription(RedisServer.current.configuration, channels: channels) { event in
            switch event {
            case .subscribed: signal.signal()
            case .message(let channel, let payload):
                let text = String(decoding: payload, as: UTF8.self)
                if text == "mark" { signal.signal() } else { heard.withLock { $0.append((channel, text)) } }
            default: break
            }
        }
        guard signal.wait(timeout: .now() + 60) == .success else {
            throw TestFailure(description: "the subscription was not confirmed within 60 s")
        }
    }

    /// The change notices and the events since the last call.
    func upToNow() throws -> (notices: [Message], events: [Message]) {
        _ = try store.connection.call(RedisCommand("PUBLISH", store.keys.eventsChannel, "mark"))
        guard signal.wait(timeout: .now() + 60) == .success else {
            throw TestFailure(description: "the mark was not received within 60 s")
        }
        let new = heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
        var (notices, events): ([Message], [Message]) = ([], [])
        for (channel, text) in new {
            let fields = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            guard let fields else { throw TestFailure(description: "a message is not a JSON object: \(text)") }
            let message = Message(text: text, fields: fields)
            if channel == store.keys.controlChannel { notices.append(message) } else { events.append(message) }
        }
        return (notices, events)
    }

    func close() { subscription.close() }
}
