import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// Ends an interrupted `darkroom submit` with a message about the batch.
///
/// Nothing needs to be cleaned up: Redis adds an operation whole or not at all, and `--resume` continues in both cases.
final class FeedInterruption: Sendable {
    enum Stage {
        case reading
        case feeding(BatchID)
        case fed(BatchID)
        case finished(BatchID)
    }

    private let list: String
    private let current = Locked(Stage.reading)

    /// - Parameter list: The photo list as the user gave it; of a URL, without the parts that may be secret.
    init(list: String) { self.list = list }

    var stage: Stage {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Prints the command that continues, and ends the process.
    func leave() -> Never {
        switch stage {
        case .reading: printToStandardError("interrupted: nothing was submitted")
        case .feeding(let id):
            let again = list == "-" ? " with the same list on standard input" : ""
            printToStandardError(
                "interrupted: batch \(id) is not complete; continue\(again): darkroom submit \(ShellWord.quoted(list)) "
                    + "--resume \(id)")
        case .fed(let id):
            printToStandardError(
                "interrupted: batch \(id) continues without this program; wait for it: darkroom wait \(id)")
        case .finished(let id):
            printToStandardError("interrupted: batch \(id) has finished, the command of --on-finish perhaps not")
        }
        _exit(ExitCode.interrupted.rawValue)
    }
}
