import DarkroomFileNames
import DarkroomFiles
import DarkroomImaging
import DarkroomModel

/// The file name extensions of the files that custom operations make.
package enum CustomEnding {
    private static let unknown = "bin"

    /// The extension for the bytes of a photo's file: the one of their format, else of the photo's name or URL, else `bin`.
    static func of(_ bytes: [UInt8], _ record: PhotoRecord) -> String {
        bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }?.fileExtension ?? ending(of: record) ?? unknown
    }

    /// All extensions that a photo's file may have.
    package static func candidates(_ record: PhotoRecord) -> [String] {
        ImageFormat.allCases.map(\.fileExtension) + [ending(of: record), unknown].compactMap { $0 }
    }

    private static func ending(of record: PhotoRecord) -> String? {
        if let ending = FileEnding.of(record.name) { return ending }
        guard let scheme = record.url.range(of: "://") else { return nil }
        // By bytes: a question mark followed by a combining character is a different Character.
        let path = record.url[scheme.upperBound...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let (above, name) = Path.split(String(decoding: path, as: UTF8.self))
        // Without a slash the URL has only a host, whose last part is no extension.
        return above == nil ? nil : FileEnding.of(name)
    }
}
