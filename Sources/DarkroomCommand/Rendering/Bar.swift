/// How far something is, as a bar of block characters.
enum Bar {
    /// A bar of `room` columns, filled as `count` is of `total`.
    static func text(_ count: Int, of total: Int, room: Int) -> String {
        let full = filled(count, of: total, room: room)
        return String(repeating: "\u{2588}", count: full) + String(repeating: "\u{2591}", count: room - full)
    }

    /// How many of `room` columns are filled: all only when all is done.
    static func filled(_ count: Int, of total: Int, room: Int) -> Int {
        total == 0 ? 0 : min(room, max(0, count) * room / total)
    }
}
