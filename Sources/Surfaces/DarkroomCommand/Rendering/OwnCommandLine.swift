import Darkroom
import DarkroomText

/// The command line of this process, for advice that users can copy into a shell.
enum OwnCommandLine {
    /// The options whose values may be secrets.
    private static let secrets = ["--header", "--proxy"]

    /// The command with an additional option. Omits `--dry-run`. Also omits the values of headers and of the proxy, and
    /// the secret parts of URLs, because the text may get into a log.
    static func text(adding option: String, to arguments: [String] = CommandLine.arguments) -> String {
        var words = ["darkroom"]
        // The words after `--` are not options.
        let end = arguments.firstIndex(of: "--")
        var isSecret = false
        for (index, word) in arguments.enumerated().dropFirst() where word != "--dry-run" {
            if index == end { words.append(option) }
            if isSecret {
                words.append("...")
            } else if let secret = secrets.first(where: { word.hasPrefix("\($0)=") }) {
                words.append("\(secret)=...")
            } else {
                words.append(ShellWord.quoted(PhotoURL.redacting(word)))
            }
            isSecret = !isSecret && secrets.contains(word)
        }
        return (words + (end == nil ? [option] : [])).joined(separator: " ")
    }
}
