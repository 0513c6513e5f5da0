/// The error of a feed or of a submission.
package struct CoordinatorError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. More kinds may be added.
    package struct Code: Sendable, Hashable {
        private enum Kind {
            case emptyList, listDiffers, batchGone, batchCancelled, redisUnreachable, redisRefused
            case notDurable, stopped, optionsOutOfBounds
            case outputDenied, outputTaken, nameTaken, folderInUse, stateDiffers, stateLost
        }
        private let kind: Kind

        /// The list contains no photos. Nothing was submitted.
        package static let emptyList = Code(kind: .emptyList)
        /// The list differs from the list that was fed before.
        package static let listDiffers = Code(kind: .listDiffers)
        /// The batch is not in Redis.
        package static let batchGone = Code(kind: .batchGone)
        /// The batch was cancelled earlier, so no photos can be added.
        package static let batchCancelled = Code(kind: .batchCancelled)
        /// Redis was unreachable for longer than the feeder waits. The feed can be resumed.
        package static let redisUnreachable = Code(kind: .redisUnreachable)
        /// Redis replied with an error. A retry does not help.
        package static let redisRefused = Code(kind: .redisRefused)
        /// The batch is fed and sealed, but it has not been written to the append-only file of Redis yet.
        package static let notDurable = Code(kind: .notDurable)
        /// ``Coordinator/stop()`` was called. The feed can be resumed.
        package static let stopped = Code(kind: .stopped)
        /// The options of the batch are out of bounds. Nothing was submitted.
        package static let optionsOutOfBounds = Code(kind: .optionsOutOfBounds)
        /// The output folder cannot be created or written to.
        package static let outputDenied = Code(kind: .outputDenied)
        /// Another batch writes or has written to the output folder.
        package static let outputTaken = Code(kind: .outputTaken)
        /// Another unfinished batch has this name.
        package static let nameTaken = Code(kind: .nameTaken)
        /// Another process is using the same folder.
        package static let folderInUse = Code(kind: .folderInUse)
        /// The earlier run in the folder has a different list or different options, or was cancelled.
        package static let stateDiffers = Code(kind: .stateDiffers)
        /// The state of the earlier run in the folder cannot be read, or its batch is no longer in Redis.
        package static let stateLost = Code(kind: .stateLost)
    }

    /// The kind of failure.
    package let code: Code
    /// What failed, on which object, what was found, and what to do.
    package let description: String

    /// Creates an error with the complete message for users.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
