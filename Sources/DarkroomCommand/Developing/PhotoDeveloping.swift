import Darkroom
import DarkroomImaging
import DarkroomText
import Foundation

/// Develops single photos, from files or standard input, in this process.
struct PhotoDeveloping {
    struct Photo {
        let name: String
        let image: DevelopedImage
        let began: ContinuousClock.Instant

        /// The line that is printed about the written file.
        func text(_ path: String) -> String {
            "\(path): \(image.format.rawValue), \(image.width) x \(image.height), "
                + "\(HumanText.bytes(image.byteCount)), \(HumanText.duration(Double(milliseconds) / 1000))"
        }

        /// The facts of the written file for `--json`.
        func json(_ path: String) -> JSON {
            [
                "in": .string(name), "out": .string(path), "format": .string(image.format.rawValue),
                "width": .int(image.width), "height": .int(image.height), "bytes": .int(image.byteCount),
                "milliseconds": .int(milliseconds),
            ]
        }

        private var milliseconds: Int { (ContinuousClock.now - began).wholeMilliseconds }
    }

    let filters: [Filter]
    let quality: Int
    let strip: Bool
    let maxPixels: Int

    /// Reads and develops a photo.
    /// - Parameters:
    ///   - name: The path of the photo; `-` is standard input.
    ///   - format: The output format; nil keeps the format of the photo.
    func develop(_ name: String, as format: ImageFormat?) throws(CommandError) -> Photo {
        let began = ContinuousClock.now
        let bytes = [UInt8](try read(name))
        let options = DevelopOptions(
            filters: filters, format: format, quality: quality, strip: strip, maxPixels: maxPixels)
        do throws(ImagingError) {
            return Photo(name: name, image: try Imaging.develop(bytes, options), began: began)
        } catch {
            throw CommandError("develop \(name): \(error)")
        }
    }

    private func read(_ name: String) throws(CommandError) -> Data {
        do {
            if name == "-" { return try FileHandle.standardInput.readToEnd() ?? Data() }
            var found = stat()
            if stat(name, &found) == 0, ![S_IFREG, S_IFDIR].contains(found.st_mode & S_IFMT) {
                throw CommandError("read the photo \(name): it is not a regular file; - is standard input")
            }
            return try Data(contentsOf: URL(fileURLWithPath: name))
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError("read the photo \(name): \(systemReason(error))")
        }
    }
}

/// If Foundation's error contains an errno, the operating system's text for that errno; otherwise Foundation's text.
func systemReason(_ error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
    return cause.map { systemErrorText($0.code.rawValue) } ?? error.localizedDescription
}
