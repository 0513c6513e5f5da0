import DarkroomModel

/// The state of a scan over the fields of a CSV record: whether the scan is in a quoted field.
enum QuotedFieldState {
    case start, plain, quoted, quoteWithinQuoted

    mutating func advance(over byte: UInt8, delimiter: UInt8) {
        switch self {
        case .start:
            if byte == Byte.quote {
                self = .quoted
            } else if byte != delimiter, byte != Byte.space {
                self = .plain
            }
        case .plain:
            if byte == delimiter { self = .start }
        case .quoted:
            if byte == Byte.quote { self = .quoteWithinQuoted }
        case .quoteWithinQuoted:
            self = byte == Byte.quote ? .quoted : byte == delimiter ? .start : .plain
        }
    }
}
