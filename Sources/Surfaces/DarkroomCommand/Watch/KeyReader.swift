/// Converts the bytes of a terminal to keys. Escape sequences, such as those of arrow keys, are ignored.
struct KeyReader {
    private enum State { case plain, escape, sequence }
    private var state = State.plain

    /// The keys of the next bytes. An escape sequence may continue in the next call.
    mutating func keys(_ bytes: some Sequence<UInt8>) -> [Character] {
        bytes.compactMap { key($0) }
    }

    private mutating func key(_ byte: UInt8) -> Character? {
        switch (state, byte) {
        case (_, 0x1b): state = .escape
        // ECMA-48: a sequence is `ESC [`, parameters, and a last byte from @ to ~. Keys of xterm send `ESC O` and a
        // letter.
        case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): state = .sequence
        case (.sequence, 0x40...0x7e), (.escape, _): state = .plain
        case (.sequence, _): break
        case (.plain, 0x20...0x7e): return Character(UnicodeScalar(byte))
        case (.plain, _): break
        }
        return nil
    }
}
