/// Builds the text of a script from its file and the steps that it includes.
///
/// - `--#include NAME` is replaced by the text of the step `NAME`, which declares local functions. An indented include
///   applies only to the block that contains it. A step that the script or an enclosing block already contains is not
///   included again.
/// - `--#define NAME TEXT` replaces NAME with TEXT in all lines below it. A NAME has only capitals and underscores.
///
/// In every call of a script, Redis creates its functions again, which takes about 0.2 µs for each function. Therefore
/// a frequent script includes a rarely needed step only in the block that needs the step, and the names of keys are
/// definitions and not variables.
struct ScriptText {
    /// The text of each step, by file name.
    let steps: [String: [UInt8]]
    private var definitions: [String: String] = [:]

    init(steps: [String: [UInt8]]) { self.steps = steps }

    /// The complete text of a script, as it is sent to Redis.
    mutating func expanded(_ source: [UInt8]) -> String {
        var included: Set<String> = []
        return expanded(source, &included)
    }

    /// - Parameter included: the steps that are declared before `source`. On return, also the steps that `source` adds.
    private mutating func expanded(_ source: [UInt8], _ included: inout Set<String>) -> String {
        var expanded: [String] = []
        // The enclosing blocks of the current line that have includes, and the steps that were included before each
        // block.
        var blocks: [(indentation: Int, before: Set<String>)] = []
        for line in String(decoding: source, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            let indentation = line.count - text.count
            while let block = blocks.last, indentation < block.indentation, !text.isEmpty {
                included = block.before
                blocks.removeLast()
            }
            if text.hasPrefix("--#include ") {
                let name = String(text.dropFirst("--#include ".count))
                guard let step = steps[name] else {
                    // A missing step is a defect of the script, which every test would find.
                    preconditionFailure("a script includes a step that does not exist: \(line)")
                }
                if indentation > blocks.last?.indentation ?? 0 { blocks.append((indentation, included)) }
                if included.insert(name).inserted { expanded.append(self.expanded(step, &included)) }
            } else if line.hasPrefix("--#define ") {
                let parts = line.split(separator: " ", maxSplits: 2)
                definitions[String(parts[1])] = replacingNames(in: parts[2])
            } else {
                expanded.append(line.hasPrefix("--") ? String(line) : replacingNames(in: line))
            }
        }
        if let outermost = blocks.first { included = outermost.before }
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
