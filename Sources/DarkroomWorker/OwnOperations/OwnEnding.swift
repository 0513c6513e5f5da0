import DarkroomFiles
import DarkroomImaging
import DarkroomModel

/// The endings of files that operations of one's own make.
enum OwnEnding {
    private static let unknown = "bin"

    /// The ending that the bytes of a photo's file should have: of their format, else the photo's own, else `bin`.
    static func of(_ bytes: [UInt8], _ record: PhotoRecord) -> String {
        bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }?.fileExtension ?? own(record) ?? unknown
    }

    /// All endings that a photo's file may have.
    static func candidates(_ record: PhotoRecord) -> [String] {
        ImageFormat.allCases.map(\.fileExtension) + [own(record), unknown].compactMap { $0 }
    }

    /// The ending of a name in small letters; nil when it has none of up to ten ASCII letters and digits.
    static func ending(of name: some StringProtocol) -> String? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let ending = name[name.index(after: dot)...]
        guard (1...10).contains(ending.utf8.count), ending.contains(where: \.isLetter),
            ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return nil }
        return ending.lowercased()
    }

    private static func own(_ record: PhotoRecord) -> String? {
        if let ending = ending(of: record.name) { return ending }
        guard let scheme = record.url.range(of: "://") else { return nil }
        // By bytes: with a combining character behind it, a question mark is another Character.
        let path = record.url[scheme.upperBound...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let (above, name) = Path.split(String(decoding: path, as: UTF8.self))
        // Without a slash there is only a host, whose last part is no ending.
        return above == nil ? nil : ending(of: name)
    }
}
