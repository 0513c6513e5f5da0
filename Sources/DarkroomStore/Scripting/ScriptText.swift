/// Puts the text of a script together from its file and its steps.
///
/// - `--#include NAME` stands for the text of the step `NAME`.
/// - `--#define NAME TEXT` puts TEXT in the place of NAME in all lines below. A NAME has capitals and underscores only.
///
/// Scripts share steps and names in this way, and not as Lua functions and tables, because a script would make those again
/// in every call.
struct ScriptText {
    /// The text of each step by its file name.
    let steps: [String: [UInt8]]
    private var definitions: [String: String] = [:]

    init(steps: [String: [UInt8]]) { self.steps = steps }

    /// The text of a script, ready for Redis.
    mutating func expanded(_ source: [UInt8]) -> String {
        let lines = String(decoding: source, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var expanded: [String] = []
        for line in lines {
            if line.hasPrefix("--#include ") {
                guard let step = steps[String(line.dropFirst("--#include ".count))] else {
                    // A defect of the scripts, which every test notices.
                    preconditionFailure("a script includes a step that does not exist: \(line)")
                }
                expanded.append(self.expanded(step))
            } else if line.hasPrefix("--#define ") {
                let parts = line.split(separator: " ", maxSplits: 2)
                definitions[String(parts[1])] = replacingNames(in: parts[2])
            } else {
                expanded.append(line.hasPrefix("--") ? String(line) : replacingNames(in: line))
            }
        }
        return expanded.joined(separator: "\n")
    }

    private func replacingNames(in line: Substring) -> String {
        var (result, rest) = ("", line.utf8[...])
        while let start = rest.firstIndex(where: Self.isWord) {
            let end = rest[start...].firstIndex { !Self.isWord($0) } ?? rest.endIndex
            let word = String(Substring(rest[start..<end]))
            result += Substring(rest[..<start]) + (definitions[word] ?? word)
            rest = rest[end...]
        }
        return result + Substring(rest)
    }

    /// Whether a byte belongs to a word: letters, digits and underscores.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
