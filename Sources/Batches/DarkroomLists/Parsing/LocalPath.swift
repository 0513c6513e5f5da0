import DarkroomModel

/// File paths that are given in place of URLs in a list.
enum LocalPath {
    /// Whether an entry is a file path: it begins with `/`, `./` or `../`, or it has a picture's extension and its
    /// first component is neither a scheme nor a host.
    static func isOne(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, !text.contains(where: { $0 < 32 || $0 == 127 }) else { return false }
        if first == Byte.slash { return text.count > 1 && text[1] != Byte.slash }
        if text.begins(with: "./") || text.begins(with: "../") { return true }
        guard ImageEnding.length(of: text) > 0, text.offset(of: Byte.colon) == nil else { return false }
        guard let slash = text.offset(of: Byte.slash) else { return true }
        return !text[..<slash].contains(UInt8(ascii: "."))
    }

    /// The absolute form of a path. `folder` is the base of relative paths.
    static func absolute(_ path: UnsafeRawBufferPointer, in folder: [UInt8]) -> [UInt8] {
        if path.first == Byte.slash { return Array(path) }
        return folder + [Byte.slash] + (path.begins(with: "./") ? path.dropFirst(2) : path[...])
    }
}
