/// Widths of texts in terminal columns.
enum TextWidth {
    /// The columns of a text without control characters. East Asian wide characters and emoji take two columns (Unicode
    /// Standard Annex 11); combining marks take none.
    static func columns(of text: some StringProtocol) -> Int {
        text.utf8.allSatisfy { $0 < 128 } ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text; if it is wider than `room` columns, its beginning followed by "…".
    static func cut(_ text: String, to room: Int) -> String {
        guard columns(of: text) > room else { return text }
        return fitting(text, room - 1) + (room > 0 ? "\u{2026}" : "")
    }

    /// The text; if it is wider than `room` columns, "…" and its end. For ids, because ids differ at their ends.
    static func cutFront(_ text: String, to room: Int) -> String {
        guard columns(of: text) > room else { return text }
        return (room > 0 ? "\u{2026}" : "") + String(fitting(String(text.reversed()), room - 1).reversed())
    }

    /// The text; if it is wider than `room` columns, its beginning, "…" and its end. For names, because similar names
    /// often have the same beginning.
    static func cutMiddle(_ text: String, to room: Int) -> String {
        guard columns(of: text) > room else { return text }
        let end = cutFront(text, to: room / 2 + 1)
        return fitting(text, room - columns(of: end)) + end
    }

    /// The text, cut or padded with spaces at its end to `room` columns.
    static func padded(_ text: String, to room: Int) -> String {
        let fitting = cut(text, to: room)
        return fitting + String(repeating: " ", count: max(0, room - columns(of: fitting)))
    }

    private static func fitting(_ text: String, _ room: Int) -> String {
        var left = room
        return String(
            text.prefix { character in
                left -= columns(of: character)
                return left >= 0
            })
    }

    private static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isPicture =
            first.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        return isPicture || wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The Unicode blocks with wide characters.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
