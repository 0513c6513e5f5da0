import DarkroomModel

/// The template for the names of developed files: literal text with `{index}`, `{name}` and `{stem}`. The stem is the
/// name without an image extension.
///
/// DESIGN. The files of two photos of a list never have the same path. If the template contains `{index}`, the index
/// makes the paths distinct. From index 10,000 on, the files are in subfolders of 10,000 files each. All indexes in
/// such a folder have the same number of digits, so a program can find the index wherever it is in the file name.
/// Without `{index}`, the name makes the paths distinct. Such templates are accepted only for lists with unique names,
/// and `SafeName` never maps two names to the same text.
package struct FileNameTemplate: Sendable, Equatable, CustomStringConvertible {
    /// An invalid template. The description names the defect and the remedy.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private enum Part: Equatable {
        case literal([UInt8]), index, name, stem

        var isLiteral: Bool { if case .literal = self { true } else { false } }
    }

    /// The maximum length of a file name without its extension, in bytes. File systems allow 255 bytes with the
    /// extension.
    package static let maxStemBytes = 200
    private static let maxLiteralBytes = 100
    private static let photosInFolder = 10_000

    package let description: String
    private let parts: [Part]

    /// Whether the index makes the paths distinct; if false, the names do.
    package var hasIndex: Bool { parts.contains(.index) }

    /// The default template: `{stem}` if all names without extensions are known to be distinct, otherwise `{name}` if all
    /// names are known to be distinct, otherwise `{index}-{name}`. Names that differ only in case are not distinct,
    /// because they would be the same file on a case-insensitive file system.
    package static func standard(namesAreDistinct: Bool, stemsAreDistinct: Bool = false) -> String {
        guard namesAreDistinct else { return "{index}-{name}" }
        return stemsAreDistinct ? "{stem}" : "{name}"
    }

    /// Parses a template. Without `{index}`, throws if `namesAreUnique` is false, or if the template has `{stem}` and
    /// `stemsAreUnique` is false. Workers pass true, because their templates were already checked when the batch was
    /// submitted.
    package init(_ text: String, namesAreUnique: Bool, stemsAreUnique: Bool? = nil) throws(Problem) {
        description = text
        parts = try Self.parts(of: text)
        guard parts.contains(.index) || parts.contains(.name) || parts.contains(.stem) else {
            throw Self.problem(text, "has neither {index} nor {name}, so all photos would be one file; add one of them")
        }
        guard stemsAreUnique ?? namesAreUnique || parts.contains(.index) || !parts.contains(.stem) else {
            throw Self.problem(
                text, "has no {index}, and names without extensions may repeat in this list; write {name} for {stem}"
            )
        }
        guard namesAreUnique || parts.contains(.index) else {
            throw Self.problem(
                text, "has no {index}, and names may repeat in this list; add {index}, as in {index}-{name}")
        }
    }

    /// The path of a photo's file relative to the output folder, with `/` between a folder and a file.
    ///
    /// `ending` is the extension of the output format, without the dot. The path stays in the folder, whatever `name`
    /// is.
    package func path(index: Int, name: String, ending: String) -> String {
        path(index: index, name: Array(name.utf8), ending: ending)
    }

    /// The path of a photo's file relative to the output folder. `name` need not be valid UTF-8.
    package func path(index: Int, name: [UInt8], ending: String) -> String {
        let number = Self.padded(index, digits: 6)
        let hasIndex = hasIndex
        let bare = name.dropLast(ImageEnding.length(of: name))
        var room = Self.maxStemBytes - (hasIndex ? number.utf8.count : 0)
        for case .literal(let text) in parts { room -= text.count }
        var stem: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let text): stem += text
            case .index: stem += number.utf8
            case .name: stem += SafeName.encode(hasIndex ? bare : name[...], maxBytes: room)
            case .stem: stem += SafeName.encode(bare, maxBytes: room)
            }
        }
        // Without the tilde, the file of a photo without a name would be hidden (`.jpg`). No other file has this name,
        // since no safe name is a single tilde.
        if stem.isEmpty || stem.first == UInt8(ascii: ".") { stem.insert(SafeName.cutMark, at: 0) }
        let file = String(decoding: stem, as: UTF8.self) + "." + ending
        let folder = index / Self.photosInFolder
        return folder == 0 ? file : Self.padded(folder, digits: 5) + "/" + file
    }

    private static func padded(_ number: Int, digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static func parts(of text: String) throws(Problem) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        while let first = rest.first {
            var part = Part.literal(Array(rest.prefix { $0 != "{" && $0 != "}" }.utf8))
            if rest.hasPrefix("{index}") {
                part = .index
                rest.removeFirst("{index}".count)
            } else if rest.hasPrefix("{name}") {
                part = .name
                rest.removeFirst("{name}".count)
            } else if rest.hasPrefix("{stem}") {
                part = .stem
                rest.removeFirst("{stem}".count)
            } else if first == "{" || first == "}" {
                throw problem(text, "has \"\(rest.prefix(12))\"; braces are for {index}, {name} and {stem} only")
            } else {
                rest = rest.drop { $0 != "{" && $0 != "}" }
            }
            let isName = part == .name || part == .stem
            guard part.isLiteral || !parts.contains(where: { $0 == part || isName && ($0 == .name || $0 == .stem) })
            else { throw problem(text, "has {\(part == .index ? "index" : "name")} twice; use it once") }
            parts.append(part)
        }
        try checkLiterals(parts, of: text)
        return parts
    }

    private static func checkLiterals(_ parts: [Part], of text: String) throws(Problem) {
        let literal = parts.flatMap { if case .literal(let bytes) = $0 { bytes } else { [UInt8]() } }
        if literal.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) {
            throw problem(text, "has a path separator; folders are created automatically; -o sets the output folder")
        }
        if literal.contains(where: { $0 < 32 || $0 == 127 }) || SafeName.hasControls(literal) {
            throw problem(text, "has a control character; remove it")
        }
        if text.utf8.first == UInt8(ascii: "-") {
            throw problem(text, "begins with \"-\", so programs would read it as an option; begin with a letter")
        }
        // Compares bytes, because a dot followed by a combining accent is one Character, which differs from ".".
        if text.utf8.first == UInt8(ascii: ".") {
            throw problem(text, "begins with a dot, so every file would be hidden; begin with a letter")
        }
        guard literal.count <= maxLiteralBytes else {
            throw problem(text, "has \(literal.count) bytes besides {index} and {name}; at most \(maxLiteralBytes) fit")
        }
    }

    private static func problem(_ text: String, _ message: String) -> Problem {
        Problem(description: "file name template \"\(text)\" \(message)")
    }
}
