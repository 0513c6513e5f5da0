import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomText
import DarkroomWorker
import Foundation

/// A photo from a file or standard input, and the files that are made of it in this process.
struct DevelopedPhoto {
    let name: String
    /// The time of the file; nil for standard input.
    let time: FileTime?
    /// A file for each rendition.
    let products: [PhotoProduct]
    /// The photo and each product side by side; empty without `--compare`.
    let comparisons: [PhotoProduct]
    /// The time for reading and developing the photo.
    let milliseconds: Int

    /// Reads and develops a photo.
    /// - Parameters:
    ///   - name: The path of the photo; `-` is standard input.
    ///   - path: The exact path of the photo, which need not be UTF-8; nil if `name` is the path. With a path, `name`
    ///     is only for messages.
    init(
        _ name: String, at path: [UInt8]? = nil, by recipe: PhotoRecipe, compares: Bool
    ) throws(CommandError) {
        let began = ContinuousClock.now
        let bytes: [UInt8]
        (bytes, time) = if let path { try Self.read(name, at: path) } else { try Self.read(name) }
        do throws(PhotoProduct.Failure) {
            let products = try PhotoMaker(recipe).make(bytes, of: PhotoRecord(index: 0, name: name, url: ""))
            var comparisons: [PhotoProduct] = []
            for product in compares ? products : [] {
                comparisons.append(try product.comparison(with: bytes, damage: recipe.limits.damage))
            }
            self.products = products
            self.comparisons = comparisons
        } catch {
            throw CommandError(
                "develop \(name): " + RemedyWording.commands.sentence("\(error)", error.reason?.remedies ?? []))
        }
        self.name = name
        milliseconds = (ContinuousClock.now - began).wholeMilliseconds
    }

    var lostGainMap: Bool { products.contains(where: \.lostGainMap) }

    /// The line that is printed about a written file.
    func text(_ product: PhotoProduct, _ path: String) -> String {
        let picture = product.picture.map { "\($0.format.rawValue), \($0.width) x \($0.height), " } ?? ""
        return "\(path): \(picture)\(HumanText.bytes(product.byteCount)), "
            + HumanText.duration(Double(milliseconds) / 1000) + (product.note.map { " (\($0))" } ?? "")
    }

    /// The facts of a written file for `--json`.
    func json(_ product: PhotoProduct, _ path: String) -> JSON {
        [
            "in": .string(name), "out": .string(path), "format": JSON(product.picture?.format.rawValue),
            "width": JSON(product.picture?.width), "height": JSON(product.picture?.height),
            "bytes": .int(product.byteCount), "milliseconds": .int(milliseconds), "note": JSON(product.note),
        ]
    }

    private static func read(_ name: String, at path: [UInt8]) throws(CommandError) -> (bytes: [UInt8], time: FileTime?)
    {
        do throws(SystemFailure) {
            // The list of a folder contains only the paths of regular files, and of links to regular files.
            return try Path.contentsAndTime(of: path)
        } catch {
            throw CommandError("read the photo \(name): \(error.text)")
        }
    }

    private static func read(_ name: String) throws(CommandError) -> (bytes: [UInt8], time: FileTime?) {
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
