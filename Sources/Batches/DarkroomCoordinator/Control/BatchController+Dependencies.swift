import DarkroomModel
import DarkroomStore
import Foundation

package struct Depended: Sendable, Equatable {
    package var added: [BatchID] = []
    /// The batches for which this batch was already waiting.
    package var waitedBefore: [BatchID] = []
    /// The batches that had already finished, so that no dependency was needed.
    package var finishedBefore: [BatchID] = []
    /// The batch that finished without success and thereby cancelled this batch (option `afterSuccess`); nil if there
    /// is none.
    package var cancelledBy: BatchID?
}

extension BatchController {
    /// Makes a batch wait until other batches have finished. The dependencies are added one after the other. If one of
    /// the other batches is not in Redis, or already waits for this batch (directly or through further batches), no
    /// dependency is added. In the second case, the error names every batch of the circle.
    @discardableResult
    package func depend(_ id: BatchID, on others: [BatchID]) throws -> Depended {
        let deadline = ContinuousClock.now + Self.patience
        // All dependencies are checked before the first is added, so that none is added if one is invalid.
        _ = try checkedVersion(of: id, on: others)
        var depended = Depended()
        for other in others {
            while try !add(id, on: other, to: &depended) {
                guard ContinuousClock.now < deadline else {
                    throw CoordinatorError(
                        .busy,
                        "batch \(id) could not be made to wait for \(other): other calls kept changing dependencies; "
                            + "try again")
                }
                // The pause is random, so that two concurrent callers do not try again at the same time.
                Thread.sleep(forTimeInterval: .random(in: 0.001...0.02))
            }
            if depended.cancelledBy != nil { break }
        }
        try awaitReplica()
        return depended
    }

    package func removeDependency(_ id: BatchID, on others: [BatchID]) throws -> Bool {
        try performChange(others.map { store.removeDependency(id, from: $0) }).reduce(false) { isChanged, reply in
            switch reply {
            case .removed(let isNew): return isNew || isChanged
            case .gone(let gone): throw CoordinatorError.gone(gone)
            }
        }
    }

    /// The longest time of retries while other callers change dependencies.
    private static let patience = Duration.seconds(10)

    /// Adds one dependency. Returns false if dependencies have changed since the check for circular dependencies.
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

    /// Checks that `id` may wait for `others`, and returns the version of the dependencies that were checked.
    private func checkedVersion(of id: BatchID, on others: [BatchID]) throws -> Int {
        guard !others.contains(id) else { throw Self.refusal(.itself, id, id) }
        let version = try store.dependencyVersion()
        if let gone = try missing(of: [id] + others) { throw CoordinatorError.gone(gone) }
        if let path = try path(from: others, to: id) {
            let links = zip(path, path.dropFirst()).map { "\($0) waits for \($1)" }.joined(separator: ", ")
            throw CoordinatorError(
                .circularDependency,
                "batch \(id) cannot wait for \(path[0]): \(links), so none of them would ever start; remove one of these "
                    + "dependencies first", .removeDependency(of: path[path.count - 2], on: id))
        }
        return version
    }

    private func missing(of ids: [BatchID]) throws -> BatchID? {
        let found = Set(try store.facts(of: ids).map(\.id))
        return ids.first { !found.contains($0) }
    }

    /// The shortest path along dependencies from one of `starts` to `end`; nil if there is no path.
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

    private static func refusal(_ reply: AddDependencyReply, _ id: BatchID, _ other: BatchID) -> CoordinatorError {
        switch reply {
        case .itself:
            CoordinatorError(.itself, "batch \(id) cannot wait for itself: it would never start; name another batch")
        case .started:
            CoordinatorError(
                .started,
                "batch \(id) has started, so it cannot be made to wait for \(other)", .suspend(id))
        case .cancelled: CoordinatorError.cancelled(id, "it does not run any more, so it cannot wait")
        case .gone(let gone): CoordinatorError.gone(gone)
        case .added, .finishedBefore, .failedBefore, .moved:
            preconditionFailure("\(reply) is not a refusal")
        }
    }
}
