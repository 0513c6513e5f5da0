/// A progress bar of block characters.
enum Bar {
    /// One part of the bar, with its own style.
    struct Part {
        let count: Int
        let style: StyledLine.Style
        var block = "\u{2588}"
    }

    /// A bar of `room` columns: the parts side by side, followed by dim blocks for the missing part of `total`.
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

    /// The number of filled columns out of `room`, rounded down, so that all columns are filled only if everything is
    /// done.
    static func filled(_ count: Int, of total: Int, room: Int) -> Int {
        total == 0 ? 0 : min(room, max(0, count) * room / total)
    }
}
