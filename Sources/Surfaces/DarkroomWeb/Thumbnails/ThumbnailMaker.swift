import Darkroom
import DarkroomConcurrency
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import DarkroomWorker
import Foundation

/// Makes small JPEGs of photos, and keeps them on the disk.
///
/// The bytes are untrusted. This process reads them and passes them to a helper process, which decodes them.
final class ThumbnailMaker: Sendable {
    /// The number of photos that are decoded at the same time.
    enum Turn: Sendable {
        /// As many photos as there are threads for thumbnails. Only photos that need little memory are decoded.
        case together
        /// One at a time.
        case alone
    }

    /// The photo needs so much memory that it must be decoded in the turn `alone`.
    struct NeedsMuchMemory: Error {}

    /// The widths that clients can ask for, in pixels. Both sides of a thumbnail are at most this long.
    static let widths = [128, 256, 512, 1024, 2048]

    private static let maxBytes = 256 << 20
    /// The largest number of bytes of a thumbnail; a JPEG of 2,048 x 2,048 pixels has about 1 MB.
    private static let maxThumbnailBytes = 16 << 20
    /// A photo with more pixels than this is decoded alone, unless its pixels are never in memory as a whole.
    private static let pixelsTogether = 25_000_000

    private let cache: ThumbnailCache
    private let failures = ThumbnailFailures()
    private let helpers: PhotoHelpers
    /// The budget for the bytes of all photos in decoding: enough for one of the largest photos and many others.
    private let budget = ByteBudget(ThumbnailMaker.maxBytes + 64 << 20)

    /// - Parameter helpers: the processes that decode the photos.
    init(_ cache: ThumbnailCache, helpers: PhotoHelpers) {
        self.cache = cache
        self.helpers = helpers
    }

    /// The thumbnail of a photo. Blocks.
    /// - Parameter version: the version of the photo, see ``OpenPhoto/version``.
    /// - Throws: ``NeedsMuchMemory`` in the turn `together`, or ``Problem``.
    func thumbnail(of photo: OpenPhoto, width: Int, version: String, _ turn: Turn) throws -> [UInt8] {
        let key = Self.key(version, width: width)
        if let known = cache[key] { return known }
        if let known = failures[version] { throw known }
        do {
            let made = try budget.withBytes(min(photo.size, Self.maxBytes)) {
                try make(photo.bytes(maxBytes: Self.maxBytes), width: width, turn)
            }
            cache[key] = made
            return made
        } catch let error as SystemFailure {
            throw Self.problem(
                photo, error.error == EFBIG ? "it has more than \(HumanText.bytes(Self.maxBytes))" : error.text)
        } catch let error as PhotoProduct.Failure {
            if error.reason == .tooManyPixels, turn == .together { throw NeedsMuchMemory() }
            let problem = Self.problem(photo, "\(error.reason?.word ?? ""): \(error.detail)")
            failures.note(problem, of: version, error.reason)
            throw problem
        }
    }

    private static func problem(_ photo: OpenPhoto, _ detail: String) -> Problem {
        Problem(422, "noThumbnail", "no thumbnail of \(photo.path): \(detail)")
    }

    static func key(_ version: String, width: Int) -> String { "\(version)-\(width)" }

    private func make(_ bytes: [UInt8], width: Int, _ turn: Turn) throws -> [UInt8] {
        var encoding = PhotoEncoding()
        encoding.format = .fixed(.jpeg)
        encoding.quality = 80
        // Keeps the colour profile: converting the colours instead would take longer than all other steps.
        encoding.metadata = .profile
        var options = DevelopOptions(
            outputs: [ImageOutput(filters: [PhotoFilter.resize(within: width, by: width)].builtIn, encoding: encoding)],
            maxPixels: turn == .together ? Self.pixelsTogether : WebConfiguration.maxPixels)
        options.maxStreamedPixels = WebConfiguration.maxPixels
        options.processorTime = .seconds(20)
        return try helpers.develop(options, bytes, maxBytes: Self.maxThumbnailBytes, isCancelled: { false })[0]
            .withUnsafeBytes { Array($0) }
    }
}
