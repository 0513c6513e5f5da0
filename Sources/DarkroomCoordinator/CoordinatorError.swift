/// Why a photo list was not fed, or a batch not begun.
package struct CoordinatorError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; more may be added.
    package struct Code: Sendable, Hashable {
        private enum Kind {
            case emptyList, listDiffers, batchGone, batchCancelled, redisUnreachable, redisRefused
            case notDurable, stopped, optionsOutOfBounds
            case outputDenied, outputTaken, nameTaken, folderInUse, stateDiffers, stateLost
        }
        private let kind: Kind

        /// The list has no photos; nothing was submitted.
        package static let emptyList = Code(kind: .emptyList)
        /// The list is not the one that was fed before.
        package static let listDiffers = Code(kind: .listDiffers)
        /// The batch is not, or no longer, in Redis.
        package static let batchGone = Code(kind: .batchGone)
        /// The batch was cancelled before, and takes nothing more.
        package static let batchCancelled = Code(kind: .batchCancelled)
        /// Redis did not answer for longer than the feeder's patience; the feed can be resumed.
        package static let redisUnreachable = Code(kind: .redisUnreachable)
        /// Redis answered with an error that trying again does not cure.
        package static let redisRefused = Code(kind: .redisRefused)
        /// All is fed and sealed, but neither disk nor replica has confirmed it.
        package static let notDurable = Code(kind: .notDurable)
        /// The feeder was told to stop; the feed can be resumed.
        package static let stopped = Code(kind: .stopped)
        /// The batch's options are out of bounds; nothing was submitted.
        package static let optionsOutOfBounds = Code(kind: .optionsOutOfBounds)
        /// The output folder cannot be made or written.
        package static let outputDenied = Code(kind: .outputDenied)
        /// Another batch writes, or wrote, to the output folder.
        package static let outputTaken = Code(kind: .outputTaken)
        /// Another batch that is not over has the name.
        package static let nameTaken = Code(kind: .nameTaken)
        /// Another process works on the same folder.
        package static let folderInUse = Code(kind: .folderInUse)
        /// What was begun in the folder is not what is asked for now.
        package static let stateDiffers = Code(kind: .stateDiffers)
        /// What was begun in the folder cannot be found any more.
        package static let stateLost = Code(kind: .stateLost)
    }

    /// What kind of failure it is.
    package let code: Code
    /// What failed, on what, what was found, what to do.
    package let description: String

    /// An error with the whole sentence that users read.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
