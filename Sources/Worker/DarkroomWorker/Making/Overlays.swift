import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import DarkroomText
import Foundation

/// The pictures of the watermarks in the chains of a batch.
package enum Overlays {
    /// The reason why a picture cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        /// The rendition with the watermark; empty if the batch has no renditions.
        package let rendition: String
        private let problem: String

        init(_ problem: String, in rendition: String) {
            self.rendition = rendition
            self.problem = problem
        }

        package var description: String { rendition.isEmpty ? problem : "rendition \(rendition): \(problem)" }
    }

    /// The largest file of a watermark, in bytes.
    private static let maxBytes = 4 << 20
    /// The largest size of all pictures of a batch together, in bytes. The worker keeps the pictures while it has
    /// photos of the batch, and helper processes get the pictures with each photo.
    private static let maxBytesOfBatch = 32 << 20

    /// Loads the picture of each watermark, or renders the text of the watermark. Watermarks with the same picture
    /// share memory. Blocks.
    /// - Parameter folder: returns a trusted folder that contains the file at an absolute path.
    /// - Returns: the picture files, keyed by filter.
    package static func load(
        for renditions: [PhotoRendition], below folder: (_ path: String) throws -> String
    ) throws -> [Filter: [UInt8]] {
        var pictures: [OverlaySource: [UInt8]] = [:]
        var files: [Filter: [UInt8]] = [:]
        var total = 0
        for rendition in renditions {
            for filter in rendition.filters.builtIn {
                guard let source = OverlaySource(filter) else { continue }
                if pictures[source] == nil {
                    let picture = try picture(source, of: rendition.name, below: folder)
                    pictures[source] = picture
                    total += picture.count
                    guard total <= maxBytesOfBatch else {
                        let limit = HumanText.bytes(maxBytesOfBatch)
                        throw Failure(
                            "the watermarks of the batch have more than \(limit) together", in: rendition.name)
                    }
                }
                files[filter] = pictures[source]
            }
        }
        return files
    }

    private static func picture(
        _ source: OverlaySource, of rendition: String, below folder: (_ path: String) throws -> String
    ) throws -> [UInt8] {
        switch source {
        case .file(let path): return try file(path, of: rendition, below: try folder(path))
        case .text(let text, let font, let colour):
            do throws(ImagingError) {
                return try Imaging.render(text, font: font, colour: colour)
            } catch {
                throw Failure("the watermark \"\(text)\" cannot be rendered: \(error.detail)", in: rendition)
            }
        }
    }

    private static func file(
        _ path: String, of rendition: String, below folder: String
    ) throws(Failure) -> [UInt8] {
        guard let relative = Folder.part(of: path, below: folder) else {
            throw Failure("the watermark \(path) is not below \(folder)", in: rendition)
        }
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try Folder(trusted: folder).contents(of: relative, maxBytes: maxBytes)
        } catch {
            let found = error.error == EFBIG ? "it is larger than \(HumanText.bytes(maxBytes))" : error.text
            throw Failure("the watermark \(path) cannot be read: \(found)", in: rendition)
        }
        if let problem = Imaging.problem(ofOverlay: bytes) {
            throw Failure("the watermark \(path) cannot be used: \(problem)", in: rendition)
        }
        return bytes
    }
}

/// The source of the picture of a watermark.
enum OverlaySource: Hashable {
    case file(String)
    case text(String, font: String?, colour: Colour)

    /// Returns nil if the filter is not a watermark.
    init?(_ filter: Filter) {
        guard filter.kind == .watermark else { return nil }
        if let path = filter.text("image") {
            self = .file(path)
        } else if let text = filter.text("text") {
            self = .text(text, font: filter.text("font"), colour: filter.colour("colour"))
        } else {
            return nil
        }
    }
}
