import DarkroomText
import Glibc

/// A call of the system that failed.
package struct SystemFailure: Error, Equatable, Sendable {
    /// What was attempted: a verb.
    package let attempted: String
    /// The system's number.
    package let error: Int32
    /// What was found.
    package let text: String

    /// A failure with its number, and with a text of its own where the system's says too little.
    package init(_ attempted: String, _ error: Int32, _ text: String? = nil) {
        self.attempted = attempted
        self.error = error
        self.text = text ?? Self.text(of: error)
    }

    private static func text(of error: Int32) -> String {
        switch error {
        case ELOOP: "there is a symbolic link, which is not followed"
        case EXDEV: "it leads out of the folder"
        default: systemErrorText(error)
        }
    }
}
