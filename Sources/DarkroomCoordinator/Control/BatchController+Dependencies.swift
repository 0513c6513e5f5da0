import DarkroomModel
import DarkroomStore
import Foundation

/// What a batch was made to wait for.
package struct Depended: Sendable, Equatable {
    /// Batches that it waits for from now on.
    package var added: [BatchID] = []
    /// Batches that it waited for before.
    package var waitedBefore: [BatchID] = []
    /// Batches that have finished: there was nothing to wait for.
    package var finishedBefore: [BatchID] = []
    /// A batch that has finished without success. The batch goes on only after success, so it is cancelled.
    package var cancelledBy: BatchID?
}

/// Batches that wait for others.
extension BatchController {
    /// Makes a batch wait until others have finished, one after the other. Repeating it does no harm.
    ///
    /// A batch that has started cannot be made to wait. Nothing is added when one of the others is gone, or waits, also by
    /// way of further batches, for this one: the error names that path.
    @discardableResult
    package func depend(_ id: BatchID, on others: [BatchID]) throws -> Depended {
        let deadline = ContinuousClock.now + Self.patience
        // All are looked at first, so that a mistake in one of them adds none.
        _ = try checkedVersion(of: id, on: others)
        var depended = Depended()
        for other in others {
            while try !add(id, on: other, to: &depended) {
                guard ContinuousClock.now < deadline else {
                    throw ControlError(
                        .busy,
                        "batch \(id) could not be made to wait for \(other): other dependencies were changed all the time; "
                            + "try again")
                }
                // Two at once would go on meeting.
                Thread.sleep(forTimeInterval: .random(in: 0.001...0.02))
            }
            if depended.cancelledBy != nil { break }
        }
        try awaitReplica()
        return depended
    }

    /// Takes it back that a batch waits for others; it is ready when nothing else is left that it waits for.
    /// - Returns: false when it waited for none of them.
    package func removeDependency(_ id: BatchID, on others: [BatchID]) throws -> Bool {
        try steer(others.map { store.removeDependency(id, from: $0) }).reduce(false) { isChanged, reply in
            switch reply {
            case .removed(let isNew): return isNew || isChanged
            case .gone(let gone): throw ControlError.gone(gone)
            }
        }
    }

    /// How long it is tried again while others change dependencies, too.
    private static let patience = Duration.seconds(10)

    /// Adds one dependency; false when others were changed meanwhile, so that there may be a circle.
    private func add(_ id: BatchID, on other: BatchID, to depended: inout Depended) throws -> Bool {
        let version = try checkedVersion(of: id, on: [other])
        switch try store.perform(store.addDependency(id, on: other, version: version)) {
        case .added(isNew: true): depended.added.append(other)
        case .added(isNew: false): depended.waitedBefore.append(other)
        case .finishedBefore: depended.finishedBefore.append(other)
        case .failedBefore: depended.cancelledBy = other
        case .moved: return false
        case let reply: throw Self.refusal(reply, id, other)
        }
        return true
    }

    /// The version of all dependencies in which `id` may wait for `others`.
    private func checkedVersion(of id: BatchID, on others: [BatchID]) throws -> Int {
        guard !others.contains(id) else { throw Self.refusal(.itself, id, id) }
        let version = try store.dependencyVersion()
        if let gone = try missing(of: [id] + others) { throw ControlError.gone(gone) }
        if let path = try path(from: others, to: id) {
            let links = zip(path, path.dropFirst()).map { "\($0) waits for \($1)" }.joined(separator: ", ")
            throw ControlError(
                .circle,
                "batch \(id) cannot wait for \(path[0]): \(links), so none of them would ever begin; take one of these away "
                    + "first: darkroom depend \(path[path.count - 2]) --on \(id) --remove")
        }
        return version
    }

    private func missing(of ids: [BatchID]) throws -> BatchID? {
        let found = Set(try store.facts(of: ids).map(\.id))
        return ids.first { !found.contains($0) }
    }

    /// The shortest way along dependencies from one of `starts` to `end`, nil when there is none.
    private func path(from starts: [BatchID], to end: BatchID) throws -> [BatchID]? {
        var cameFrom: [BatchID: BatchID?] = [:]
        for start in starts { cameFrom[start] = .some(nil) }
        var level = Array(cameFrom.keys)
        while !level.isEmpty {
            var next: [BatchID] = []
            for (batch, needed) in zip(level, try store.dependencies(of: level)) {
                for other in needed where cameFrom[other] == nil {
                    cameFrom[other] = .some(batch)
                    next.append(other)
                }
            }
            if cameFrom[end] != nil { return way(to: end, cameFrom) }
            level = next
        }
        return nil
    }

    private func way(to end: BatchID, _ cameFrom: [BatchID: BatchID?]) -> [BatchID] {
        var path = [end]
        while let last = path.last, let before = cameFrom[last], let before { path.append(before) }
        return path.reversed()
    }

    /// The error that a reply stands for.
    private static func refusal(_ reply: AddDependencyReply, _ id: BatchID, _ other: BatchID) -> ControlError {
        switch reply {
        case .itself:
            ControlError(.itself, "batch \(id) cannot wait for itself: it would never begin; name another batch")
        case .started:
            ControlError(
                .started,
                "batch \(id) has started, so it cannot be made to wait for \(other); hold it with: darkroom suspend \(id)"
            )
        case .cancelled: ControlError.cancelled(id, "it does not run any more, so it waits for nothing")
        case .gone(let gone): ControlError.gone(gone)
        case .added, .finishedBefore, .failedBefore, .moved:
            preconditionFailure("\(reply) is no refusal")
        }
    }
}
