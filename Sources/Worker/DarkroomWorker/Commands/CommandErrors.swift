import Foundation

/// The standard error of a command.
struct CommandErrors {
    private let lines: [String]

    init(_ text: String) {
        lines = text.split { $0.isNewline }.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// At most `most` scalars: the line that gives the reason of the failure, followed by the end of the other lines.
    ///
    /// The reason is first, because tables and Redis contain only the beginning of a detail. Programs print warnings and
    /// stack traces before the reason.
    func text(most: Int) -> String {
        guard let index = reason else { return "" }
        let reason = lines[index].unicodeScalars.prefix(most)
        // One scalar is the line break.
        let others = lines[..<index] + lines[(index + 1)...]
        let rest = others.joined(separator: "\n").unicodeScalars.suffix(max(0, most - reason.count - 1))
        return String(reason) + (rest.isEmpty ? "" : "\n" + String(rest))
    }

    /// The last message of a shell about a missing program, otherwise the last line with a letter or digit.
    private var reason: Int? {
        lines.lastIndex { $0.hasSuffix(": not found") || $0.hasSuffix(": command not found") }
            ?? lines.lastIndex { $0.contains { $0.isLetter || $0.isNumber } } ?? lines.indices.last
    }
}
