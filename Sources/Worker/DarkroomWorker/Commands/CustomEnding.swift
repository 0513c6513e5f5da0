import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import DarkroomStorage

/// The file name extensions for the files that custom filters produce.
enum CustomEnding {
    private static let unknown = "bin"

    /// Returns the extension for the bytes' image format, otherwise the extension in the name or URL, otherwise `bin`.
    static func of(_ bytes: [UInt8], _ record: PhotoRecord) -> String {
        bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }?.fileExtension ?? ending(of: record) ?? unknown
    }

    /// All extensions that a photo's file may have.
    static func candidates(_ record: PhotoRecord) -> [String] {
        ImageFormat.allCases.map(\.fileExtension) + [ending(of: record), unknown].compactMap { $0 }
    }

    private static func ending(of record: PhotoRecord) -> String? {
        if let ending = FileEnding.of(record.name) { return ending }
        guard let scheme = record.url.range(of: "://") else { return nil }
        // Compares bytes, because a question mark followed by a combining character is a different Character.
        let path = record.url[scheme.upperBound...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let (above, name) = Path.split(String(decoding: path, as: UTF8.self))
        // Without a slash, `path` is only the host, whose last part is not a file extension.
        return above == nil ? nil : FileEnding.of(name)
    }
}
