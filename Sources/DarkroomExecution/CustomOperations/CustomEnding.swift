import DarkroomFileNames
import DarkroomFiles
import DarkroomImaging
import DarkroomModel

/// The file name endings of the files that custom operations make.
package enum CustomEnding {
    private static let unknown = "bin"

    /// The ending for the bytes of a photo's file: that of their format, or else that of the photo's name or URL, or else `bin`.
    static func of(_ bytes: [UInt8], _ record: PhotoRecord) -> String {
        bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }?.fileExtension ?? ending(of: record) ?? unknown
    }

    /// All endings that a photo's file may have.
    package static func candidates(_ record: PhotoRecord) -> [String] {
        ImageFormat.allCases.map(\.fileExtension) + [ending(of: record), unknown].compactMap { $0 }
    }

    private static func ending(of record: PhotoRecord) -> String? {
        if let ending = FileEnding.of(record.name) { return ending }
        guard let scheme = record.url.range(of: "://") else { return nil }
        // By bytes: a question mark and a combining character behind it are one other Character.
        let path = record.url[scheme.upperBound...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let (above, name) = Path.split(String(decoding: path, as: UTF8.self))
        // Without a slash the URL has only a host, whose last part is no ending.
        return above == nil ? nil : FileEnding.of(name)
    }
}
