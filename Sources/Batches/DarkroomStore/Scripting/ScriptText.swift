/// Builds the text of a script from its file and the steps that it includes.
///
/// - `--#include NAME` is replaced by the text of the step `NAME`.
/// - `--#define NAME TEXT` replaces NAME with TEXT in all lines below it. A NAME has only capitals and underscores.
///
/// Scripts share steps and names in this way, instead of through Lua functions and tables, because Redis would create
/// the functions and tables again in every call.
struct ScriptText {
    /// The text of each step, by file name.
    let steps: [String: [UInt8]]
    private var definitions: [String: String] = [:]

    init(steps: [String: [UInt8]]) { self.steps = steps }

    /// The complete text of a script, as it is sent to Redis.
    mutating func expanded(_ source: [UInt8]) -> String {
        let lines = String(decoding: source, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var expanded: [String] = []
        for line in lines {
            if line.hasPrefix("--#include ") {
                guard let step = steps[String(line.dropFirst("--#include ".count))] else {
                    // This happens only if a script has a defect, which every test would find.
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

    /// Whether a byte is part of a word: a letter, a digit or an underscore.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
