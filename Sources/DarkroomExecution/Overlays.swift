import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import DarkroomText
import Foundation

/// The pictures of the watermarks in the chains of a batch.
package enum Overlays {
    /// Why a picture cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The largest file of a watermark, in bytes. Helper processes get it with each photo.
    private static let maxBytes = 4 << 20

    /// Loads the picture of each watermark, or renders its text. Blocks.
    /// - Parameter folder: returns a trusted folder that contains the file at an absolute path.
    /// - Returns: files, by the filter.
    package static func load(
        for outputs: [PhotoOutput], below folder: (_ path: String) throws -> String
    ) throws -> [Filter: [UInt8]] {
        var files: [Filter: [UInt8]] = [:]
        for filter in outputs.flatMap(\.chain.filters) where filter.kind == .watermark && files[filter] == nil {
            if let path = filter.text("image") {
                files[filter] = try file(path, below: try folder(path))
            } else if let text = filter.text("text") {
                do throws(ImagingError) {
                    files[filter] = try Imaging.render(text, font: filter.text("font"), colour: filter.colour("colour"))
                } catch {
                    throw Failure(description: "the text of \(filter) cannot be rendered: \(error.detail)")
                }
            }
        }
        return files
    }

    private static func file(_ path: String, below folder: String) throws(Failure) -> [UInt8] {
        guard let relative = Folder.part(of: path, below: folder) else {
            throw Failure(description: "the watermark \(path) is not below \(folder)")
        }
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try Folder(trusted: folder).contents(of: relative, maxBytes: maxBytes)
        } catch {
            let found = error.error == EFBIG ? "it is larger than \(HumanText.bytes(maxBytes))" : error.text
            throw Failure(description: "the watermark \(path) cannot be read: \(found)")
        }
        if let problem = Imaging.problem(ofOverlay: bytes) {
            throw Failure(description: "the watermark \(path) cannot be used: \(problem)")
        }
        return bytes
    }
}
