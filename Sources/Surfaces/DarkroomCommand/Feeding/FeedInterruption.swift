import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomLists
import DarkroomText
import Foundation

/// Ends an interrupted `darkroom submit` with a message about the batch.
///
/// No cleanup is needed: Redis adds an operation completely or not at all, and `--resume` works in both cases.
final class FeedInterruption: Sendable {
    enum Stage {
        case reading
        case feeding(BatchID)
        case fed(BatchID)
        case finished(BatchID)
    }

    private let list: String
    private let selection: PhotoSelection
    private let current = Locked(Stage.reading)

    /// - Parameter list: The photo list as the user gave it; a URL must not contain parts that may be secret.
    init(list: String, _ selection: PhotoSelection) {
        self.list = list
        self.selection = selection
    }

    var stage: Stage {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Prints the state of the batch and the command to continue with, and ends the process.
    func leave() -> Never {
        switch stage {
        case .reading: printToStandardError("interrupted: nothing was submitted")
        case .feeding(let id):
            let again = list == "-" ? " with the same list on standard input" : ""
            printToStandardError(
                "interrupted: batch \(id) is not complete; continue\(again): darkroom submit \(ShellWord.quoted(list)) "
                    + "--resume \(id)\(selection.argumentText)")
        case .fed(let id):
            printToStandardError(
                "interrupted: batch \(id) continues without this program; wait for it: darkroom wait \(id)")
        case .finished(let id):
            printToStandardError("interrupted: batch \(id) has finished, but the command of --on-finish may not have")
        }
        _exit(ExitCode.interrupted.rawValue)
    }
}
