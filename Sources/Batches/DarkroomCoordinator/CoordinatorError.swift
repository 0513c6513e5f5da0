import DarkroomModel
import DarkroomStorage

/// The reason why a photo list was not fed, a batch was not submitted, or a change of a batch or of the cluster was
/// refused. Nothing was changed, unless the description names a change.
package struct CoordinatorError: Error, Remediable {
    package enum Code: Sendable {
        /// The list contains no photos. Nothing was submitted.
        case emptyList
        /// The list differs from the list that was fed before.
        case listDiffers
        /// The batch, or a batch that it should wait for, is not in Redis.
        case batchGone
        /// The batch has finished, so the change has no effect.
        case finished
        /// The batch is cancelled: it accepts no photos and cannot be continued.
        case cancelled
        /// The batch has started, so it cannot be made to wait.
        case started
        /// The batches would wait for each other.
        case circularDependency
        /// A batch cannot wait for itself.
        case itself
        /// Some of the photos are not fed yet. Trying again later can help.
        case notFed
        /// The list has been fed completely, and does not contain these photos.
        case outsideList
        /// A limit or an option of a batch is out of bounds.
        case outOfBounds
        /// Another change of dependencies, or the release of waiting batches, was in progress, or Redis is out of memory.
        /// Trying again can help.
        case busy
        /// Redis was unreachable for longer than the feeder waits. The feed can be resumed.
        case redisUnreachable
        /// Redis replied with an error. A retry does not help.
        case redisRefused
        /// The batch is fed and sealed, but it has not been written to the append-only file of Redis yet.
        case notDurable
        /// ``Coordinator/stop()`` was called. The feed can be resumed.
        case stopped
        /// The output folder cannot be created or written to.
        case outputDenied
        /// Another batch writes or has written to the output folder.
        case outputTaken
        /// Another unfinished batch has this name.
        case nameTaken
        /// Another process is using the same folder.
        case folderInUse
        /// The earlier run in the folder has a different list or different options, or was cancelled.
        case stateDiffers
        /// The state of the earlier run in the folder cannot be read, or Redis no longer has the batch of that run.
        case stateLost
    }

    package let code: Code
    package let problem: String
    package let remedies: [Remedy]

    /// - Parameters:
    ///   - problem: the failed action, its object, the cause, and the remedy if `remedies` is empty.
    package init(_ code: Code, _ problem: String, _ remedies: Remedy...) {
        self.init(code, problem, remedies)
    }

    package init(_ code: Code, _ problem: String, _ remedies: [Remedy]) {
        self.code = code
        self.problem = problem
        self.remedies = remedies
    }
}

extension CoordinatorError {
    /// Makes storage calls, and throws their errors as errors of the coordinator.
    package static func storing<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(CoordinatorError) -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            throw CoordinatorError(
                error.code == .taken ? .outputTaken : .outputDenied, error.problem, error.remedies)
        }
    }

    static func nameTaken(_ name: String, by other: BatchID) -> CoordinatorError {
        CoordinatorError(
            .nameTaken,
            "the name \"\(name)\": batch \(other) has it and has not finished; choose another name, wait until that "
                + "batch has finished, or cancel it; nothing was submitted")
    }

    static func outputTaken(_ place: any StoragePlace, by other: BatchID) -> CoordinatorError {
        CoordinatorError(
            .outputTaken,
            "\(place.title): batch \(other) writes there; choose another output", .forget(other), .overwrite)
    }

    static func memoryFull(_ memory: RedisMemory?) -> CoordinatorError {
        CoordinatorError(
            .busy,
            "Redis has no memory left" + (memory.map { " (\($0))" } ?? "")
                + ", so nothing was submitted; try again when workers have finished operations, or raise maxmemory there",
            .forgetFinished)
    }

    package static func gone(_ id: BatchID) -> CoordinatorError {
        CoordinatorError(
            .batchGone,
            "batch \(id) is not in Redis: it was forgotten or never submitted", .listBatches)
    }

    /// - Parameter what: the reason why the change has no effect, for example `there is nothing left to suspend`.
    static func finished(_ id: BatchID, _ what: String) -> CoordinatorError {
        CoordinatorError(.finished, "batch \(id) has finished: \(what)")
    }

    /// - Parameter what: the reason why the change has no effect.
    static func cancelled(_ id: BatchID, _ what: String, _ remedies: Remedy...) -> CoordinatorError {
        CoordinatorError(.cancelled, "batch \(id) is cancelled: \(what)", remedies)
    }
}
