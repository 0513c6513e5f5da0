import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// What an interrupt of `darkroom submit` says before it ends the process.
///
/// Nothing needs to be cleaned up: an operation that is on its way is fed or not, and both are well.
final class FeedInterruption: Sendable {
    /// How far the command has come.
    enum Stage {
        case reading
        case feeding(BatchID)
        case fed(BatchID)
        case finished(BatchID)
    }

    private let list: String
    private let current = Locked(Stage.reading)

    /// - Parameter list: the photo list as the user gave it, without what may be secret of a URL.
    init(list: String) { self.list = list }

    /// How far the command has come.
    var stage: Stage {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Ends the process and says how things go on.
    func leave() -> Never {
        switch stage {
        case .reading: printToStandardError("interrupted: nothing was submitted")
        case .feeding(let id):
            let again = list == "-" ? " with the same list on standard input" : ""
            printToStandardError(
                "interrupted: batch \(id) is not complete; go on\(again): darkroom submit \(ShellWord.quoted(list)) "
                    + "--resume \(id)")
        case .fed(let id):
            printToStandardError(
                "interrupted: batch \(id) goes on without this program; wait for it: darkroom wait \(id)")
        case .finished(let id):
            printToStandardError("interrupted: batch \(id) has finished, the command of --on-finish perhaps not")
        }
        _exit(ExitCode.interrupted.rawValue)
    }
}
