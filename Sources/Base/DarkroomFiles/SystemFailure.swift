import DarkroomText
import Glibc

package struct SystemFailure: Error, Equatable, Sendable {
    /// The attempted action, as a verb.
    package let attempted: String
    /// The error number, see errno(3).
    package let error: Int32
    package let text: String

    /// Creates a failure with an error number and, optionally, a text that is more precise than the system's text.
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
