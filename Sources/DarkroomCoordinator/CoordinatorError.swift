/// Why a photo list was not fed or a batch not submitted.
package struct CoordinatorError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. More kinds may be added.
    package struct Code: Sendable, Hashable {
        private enum Kind {
            case emptyList, listDiffers, batchGone, batchCancelled, redisUnreachable, redisRefused
            case notDurable, stopped, optionsOutOfBounds
            case outputDenied, outputTaken, nameTaken, folderInUse, stateDiffers, stateLost
        }
        private let kind: Kind

        /// The list has no photos; nothing was submitted.
        package static let emptyList = Code(kind: .emptyList)
        /// The list differs from the one that was fed before.
        package static let listDiffers = Code(kind: .listDiffers)
        /// The batch is not in Redis.
        package static let batchGone = Code(kind: .batchGone)
        /// The batch was cancelled before, so it accepts no photos.
        package static let batchCancelled = Code(kind: .batchCancelled)
        /// Redis was unreachable for longer than the feeder waits. The feed can be resumed.
        package static let redisUnreachable = Code(kind: .redisUnreachable)
        /// Redis replied with an error. Trying again does not help.
        package static let redisRefused = Code(kind: .redisRefused)
        /// The batch is fed and sealed, but the append-only file of Redis does not have it yet.
        package static let notDurable = Code(kind: .notDurable)
        /// ``Coordinator/stop()`` was called. The feed can be resumed.
        package static let stopped = Code(kind: .stopped)
        /// The batch's options are out of bounds; nothing was submitted.
        package static let optionsOutOfBounds = Code(kind: .optionsOutOfBounds)
        /// The output folder cannot be created or written to.
        package static let outputDenied = Code(kind: .outputDenied)
        /// Another batch writes, or wrote, to the output folder.
        package static let outputTaken = Code(kind: .outputTaken)
        /// Another unfinished batch has the name.
        package static let nameTaken = Code(kind: .nameTaken)
        /// Another process uses the same folder.
        package static let folderInUse = Code(kind: .folderInUse)
        /// The run in the folder has other options than this one.
        package static let stateDiffers = Code(kind: .stateDiffers)
        /// The run in the folder cannot be found.
        package static let stateLost = Code(kind: .stateLost)
    }

    /// The kind of failure.
    package let code: Code
    /// What failed, on which object, what was found, and what to do.
    package let description: String

    /// An error with the complete message for users.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
