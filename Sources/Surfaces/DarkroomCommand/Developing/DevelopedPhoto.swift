import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import DarkroomText
import DarkroomWorker
import Foundation

/// Develops single photos, from files or standard input, in this process.
struct PhotoDeveloping {
    struct Photo {
        let name: String
        /// The time of the file; nil for standard input.
        let time: FileTime?
        /// A picture for each output.
        let images: [DevelopedImage]
        /// The photo and each picture side by side; empty without `--compare`.
        let comparisons: [DevelopedImage]
        /// The time for reading and developing the photo.
        let milliseconds: Int

        var lostGainMap: Bool { images.contains(where: \.lostGainMap) }

        /// The line that is printed about a written file.
        func text(_ image: DevelopedImage, _ path: String) -> String {
            "\(path): \(image.format.rawValue), \(image.width) x \(image.height), "
                + "\(HumanText.bytes(image.byteCount)), \(HumanText.duration(Double(milliseconds) / 1000))"
                + (image.note.map { " (\($0))" } ?? "")
        }

        /// The facts of a written file for `--json`.
        func json(_ image: DevelopedImage, _ path: String) -> JSON {
            [
                "in": .string(name), "out": .string(path), "format": .string(image.format.rawValue),
                "width": .int(image.width), "height": .int(image.height), "bytes": .int(image.byteCount),
                "milliseconds": .int(milliseconds), "note": JSON(image.note),
            ]
        }
    }

    let options: DevelopOptions
    let compares: Bool

    /// Reads and develops a photo.
    /// - Parameters:
    ///   - name: The path of the photo; `-` is standard input.
    ///   - path: The path of the photo if it need not be UTF-8. Then `name` is only for messages.
    ///   - format: The format of the only output; nil for the format in the options.
    func develop(
        _ name: String, at path: [UInt8]? = nil, as format: ImageFormat? = nil
    ) throws(CommandError) -> Photo {
        let began = ContinuousClock.now
        let (bytes, time) = if let path { try read(name, at: path) } else { try read(name) }
        var options = options
        if let format { options.outputs[0].encoding.format = .fixed(format) }
        do throws(ImagingError) {
            let images = try Imaging.develop(bytes, options)
            var comparisons: [DevelopedImage] = []
            for image in compares ? images : [] {
                comparisons.append(try Imaging.compare(bytes, image, damage: options.damage))
            }
            return Photo(
                name: name, time: time, images: images, comparisons: comparisons,
                milliseconds: (ContinuousClock.now - began).wholeMilliseconds)
        } catch {
            let remedies = FailureReason(error)?.remedies ?? []
            throw CommandError("develop \(name): " + RemedyWording.commands.sentence("\(error)", remedies))
        }
    }

    private func read(_ name: String, at path: [UInt8]) throws(CommandError) -> (bytes: [UInt8], time: FileTime?) {
        do throws(SystemFailure) {
            // A folder of photos has only the paths of regular files, and of links to them.
            return try Path.contentsAndTime(of: path)
        } catch {
            throw CommandError("read the photo \(name): \(error.text)")
        }
    }

    private func read(_ name: String) throws(CommandError) -> (bytes: [UInt8], time: FileTime?) {
        do {
            if name == "-" { return ([UInt8](try FileHandle.standardInput.readToEnd() ?? Data()), nil) }
            var found = stat()
            let isFound = stat(name, &found) == 0
            if isFound, ![S_IFREG, S_IFDIR].contains(found.st_mode & S_IFMT) {
                throw CommandError("read the photo \(name): it is not a regular file; - is standard input")
            }
            return ([UInt8](try Data(contentsOf: URL(fileURLWithPath: name))), isFound ? FileTime(of: found) : nil)
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
