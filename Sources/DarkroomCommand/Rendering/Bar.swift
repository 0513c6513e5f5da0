/// How far something is, as a bar of block characters.
enum Bar {
    /// One part of what is counted, in its own look.
    struct Part {
        let count: Int
        let style: StyledLine.Style
        var block = "\u{2588}"
    }

    /// A bar of `room` columns: the parts side by side, the rest of `total` dim.
    static func line(_ parts: [Part], of total: Int, room: Int) -> StyledLine {
        var bar = StyledLine()
        var done = 0
        for part in parts {
            let before = filled(done, of: total, room: room)
            done += part.count
            let after = filled(done, of: total, room: room)
            bar.append(String(repeating: part.block, count: after - before), part.style)
        }
        bar.append(String(repeating: "\u{2591}", count: room - bar.columns), .dim)
        return bar
    }

    /// How many of `room` columns are filled: all only when all is done.
    static func filled(_ count: Int, of total: Int, room: Int) -> Int {
        total == 0 ? 0 : min(room, max(0, count) * room / total)
    }
}
