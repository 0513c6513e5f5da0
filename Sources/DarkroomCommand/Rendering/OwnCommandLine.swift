import Darkroom
import DarkroomText

/// The command line of this process, for advice that users can copy into a shell.
enum OwnCommandLine {
    /// The command with another option. Without `--dry-run`, and without the values of headers and the secret parts of
    /// URLs, because the text may get into a log.
    static func text(adding option: String, to arguments: [String] = CommandLine.arguments) -> String {
        var words = ["darkroom"]
        // Options end at `--`.
        let end = arguments.firstIndex(of: "--")
        var isSecret = false
        for (index, word) in arguments.enumerated().dropFirst() where word != "--dry-run" {
            if index == end { words.append(option) }
            if isSecret {
                words.append("...")
            } else if word.hasPrefix("--header=") {
                words.append("--header=...")
            } else {
                words.append(ShellWord.quoted(PhotoURL.redacting(word)))
            }
            isSecret = !isSecret && word == "--header"
        }
        return (words + (end == nil ? [option] : [])).joined(separator: " ")
    }
}
