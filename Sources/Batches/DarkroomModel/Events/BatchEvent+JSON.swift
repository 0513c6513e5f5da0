extension BatchEvent {
    /// Reads a message of the events channel. Returns nil if the message is not a JSON object with an `event` and a
    /// `time`, or if it contains an invalid batch id.
    package init?(json: [UInt8]) {
        guard let message = EventMessage(json), let name = message.string("event"), let time = message.int("time")
        else { return nil }
        let batch = message.string("batch")
        let id = batch.flatMap { BatchID($0) }
        guard batch == nil || id != nil else { return nil }
        self.init(Self.kind(name, message) ?? .other(name), batch: id, time: time)
    }

    /// The batch that a message of the events channel names; nil if the message is invalid or is about all batches.
    /// Other members of the message are not read.
    package static func batch(inJSON json: [UInt8]) -> BatchID? {
        EventMessage.string("batch", in: json).flatMap { BatchID($0) }
    }

    /// Returns nil if the name is unknown, or if a field that this event needs is missing or invalid.
    private static func kind(_ name: String, _ message: EventMessage) -> Kind? {
        switch name {
        case "submitted": .submitted
        case "forgotten": .forgotten
        case "isReady": message.bool("value").map(Kind.isReady)
        case "isExecuting": message.bool("value").map(Kind.isExecuting)
        case "isFinished": message.bool("value").map(Kind.isFinished)
        case "isCancelled": message.bool("value").map(Kind.isCancelled)
        case "isSuspended": isSuspended(message)
        case "dependencies": message.int("value").map(Kind.dependencies)
        case "priority": message.string("value").flatMap(BatchPriority.init(rawValue:)).map(Kind.priority)
        case "focus": focus(message)
        case "limits": .limits(downloads: message.int("downloads"), filtrations: message.int("filtrations"))
        case "completion": completion(message)
        case "photos": photos(message)
        default: operation(name, message)
        }
    }

    private static func operation(_ name: String, _ message: EventMessage) -> Kind? {
        if name == "claimed", let operations = message.ints("operations"), let worker = message.string("worker") {
            return .claimed(operations: operations, worker: worker)
        }
        guard let operation = message.int("operation") else { return nil }
        switch name {
        case "released": return .released(operation: operation)
        case "recovered":
            return message.int("leaseExpiries").map { .recovered(operation: operation, leaseExpiries: $0) }
        case "ended": return .ended(operation: operation)
        default: return nil
        }
    }

    private static func isSuspended(_ message: EventMessage) -> Kind? {
        guard let value = message.bool("value"), let part = message.string("part").flatMap(QueuePart.init(rawValue:))
        else { return nil }
        return .isSuspended(part, value)
    }

    private static func focus(_ message: EventMessage) -> Kind? {
        guard let first = message.int("first") else { return .focus(nil) }
        let focus = BatchControls.Focus(first: first, last: message.int("last"), only: message.bool("only") ?? false)
        return focus.map(Kind.focus)
    }

    private static func completion(_ message: EventMessage) -> Kind? {
        guard let round = message.int("round"), let isCancelled = message.bool("cancelled"),
            let photos = message.int("photos"), let filtered = message.int("filtered"),
            let failed = message.int("failed"), let cancelled = message.int("cancelledPhotos")
        else { return nil }
        return .completion(
            Completion(
                round: round, isCancelled: isCancelled, photos: photos, filtered: filtered, failed: failed,
                cancelled: cancelled))
    }

    private static func photos(_ message: EventMessage) -> Kind? {
        guard let stateCodes = message.members("photos") else { return nil }
        var states: [Int: PhotoState] = [:]
        for (index, stateCode) in stateCodes {
            guard let index = Int(index), StoredBounds.indexes.contains(index),
                let state = PhotoState(stateCodeText: stateCode)
            else { return nil }
            states[index] = state
        }
        return .photos(states, worker: message.string("worker"), dropped: message.int("dropped") ?? 0)
    }
}
