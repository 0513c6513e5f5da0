import Darkroom
import DarkroomExecution
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import Foundation

/// Makes small JPEGs of photos, and keeps them on the disk.
final class ThumbnailMaker: Sendable {
    /// The widths that clients can ask for, in pixels. Both sides of a thumbnail are at most this long.
    static let widths = [128, 256, 512, 1024, 2048]

    private static let maxBytes = 256 << 20

    private let cache: ThumbnailCache
    private let helpers: PhotoHelpers?

    /// - Parameter helpers: the processes that decode photos which could block or crash this process.
    init(_ cache: ThumbnailCache, helpers: PhotoHelpers?) {
        self.cache = cache
        self.helpers = helpers
    }

    /// The thumbnail of a photo. Blocks.
    /// - Parameter key: the version of the photo and the width, see ``key(_:width:)``.
    func thumbnail(of photo: OpenPhoto, width: Int, key: String) throws(Problem) -> [UInt8] {
        if let known = cache[key] { return known }
        do {
            let made = try make(photo.bytes(maxBytes: Self.maxBytes), width: width)
            cache[key] = made
            return made
        } catch let error as SystemFailure {
            throw Problem(
                422, "noThumbnail",
                "no thumbnail of \(photo.path): "
                    + (error.error == EFBIG ? "it has more than \(HumanText.bytes(Self.maxBytes))" : error.text))
        } catch let error as PhotoProduct.Failure {
            throw Problem(
                422, "noThumbnail", "no thumbnail of \(photo.path): \(error.reason?.word ?? ""): \(error.detail)")
        } catch {
            throw Problem(422, "noThumbnail", "no thumbnail of \(photo.path): \(error)")
        }
    }

    static func key(_ version: String, width: Int) -> String { "\(version)-\(width)" }

    private func make(_ bytes: [UInt8], width: Int) throws -> [UInt8] {
        var encoding = EncodingSettings()
        encoding.format = .fixed(.jpeg)
        encoding.quality = 80
        // To convert the colours instead would take longer than everything else.
        encoding.metadata = .profile
        let chain = try FilterChain(parsing: "resize=\(width)x\(width),inside,enlarge:no")
        var options = DevelopOptions(
            outputs: [ImageOutput(filters: chain.filters, encoding: encoding)])
        options.processorTime = .seconds(20)
        if let helpers, !Imaging.canAlwaysStop(bytes, options) {
            return try helpers.develop(options, bytes, isCancelled: { false })[0].withUnsafeBytes { Array($0) }
        }
        return try Imaging.develop(bytes, options)[0].withUnsafeBytes { Array($0) }
    }
}
