import DarkroomModel

/// Converts the entries of a list: text that is not UTF-8 is read as Windows-1252, and a path becomes a `file:` URL.
struct EntryReading {
    /// The kind of entries that are read as paths.
    enum Paths: Sendable, Equatable {
        /// No entries, for example in a list from the web.
        case none
        /// Absolute paths only, for the list of an untrusted user, who does not know the folder of the list file.
        case absolute
        /// All paths; relative paths begin in this folder.
        case all(in: String)
    }

    private let paths: Paths
    /// The base folder of relative paths; nil if relative paths are not converted.
    private let folder: [UInt8]?
    /// The number of entries that were not valid UTF-8.
    private(set) var converted = 0
    private var scratch = PhotoURL.Scratch()

    init(_ paths: Paths) {
        self.paths = paths
        if case .all(let folder) = paths { self.folder = Array(folder.utf8) } else { folder = nil }
    }

    /// Converts an entry and passes it to `receive`.
    mutating func read(_ entry: ListEntry, _ receive: PhotoListReceiver) {
        // The bytes of a path are not converted, because paths have no encoding.
        if let path = path(entry.url) {
            return PhotoURL.file(path: path).withUnsafeBytes {
                convert(ListEntry(name: entry.name, url: $0, line: entry.line), receive)
            }
        }
        convert(entry, receive)
    }

    /// The absolute form of an entry that is a path; nil if the entry is not a path.
    func path(_ url: UnsafeRawBufferPointer) -> [UInt8]? {
        guard paths != .none, PhotoURL.authorityStart(url) == nil, LocalPath.isOne(url) else { return nil }
        guard let folder else { return url.first == Byte.slash ? Array(url) : nil }
        return LocalPath.absolute(url, in: folder)
    }

    private mutating func convert(_ entry: ListEntry, _ receive: PhotoListReceiver) {
        let isPlain = Self.isUTF8(entry.url)
        guard !Self.isUTF8(entry.name) || !isPlain else { return receive(entry) }
        // A name that was decoded from percent-encoded bytes of its URL is not text of the list, so it is not counted.
        if !isPlain || !PhotoURL.withName(of: entry.url, &scratch, { $0.elementsEqual(entry.name) }) { converted += 1 }
        Self.text(entry.name).withUnsafeBytes { name in
            Self.text(entry.url).withUnsafeBytes { receive(ListEntry(name: name, url: $0, line: entry.line)) }
        }
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        if isUTF8(bytes) { return Array(bytes) }
        var text = ""
        for byte in bytes { text.unicodeScalars.append(scalar(byte)) }
        return Array(text.utf8)
    }

    /// The Unicode character of a Windows-1252 byte. The five unused bytes are read as Latin-1, as WHATWG specifies.
    private static func scalar(_ byte: UInt8) -> UnicodeScalar {
        (0x80...0x9f).contains(byte) ? special[Int(byte) - 0x80] : UnicodeScalar(byte)
    }

    private static let special: [UnicodeScalar] = [
        "\u{20ac}", "\u{81}", "\u{201a}", "\u{192}", "\u{201e}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2c6}",
        "\u{2030}",
        "\u{160}", "\u{2039}", "\u{152}", "\u{8d}", "\u{17d}", "\u{8f}", "\u{90}", "\u{2018}", "\u{2019}", "\u{201c}",
        "\u{201d}",
        "\u{2022}", "\u{2013}", "\u{2014}", "\u{2dc}", "\u{2122}", "\u{161}", "\u{203a}", "\u{153}", "\u{9d}",
        "\u{17e}", "\u{178}",
    ]
}
