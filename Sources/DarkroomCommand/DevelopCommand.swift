import ArgumentParsing
import Darkroom
import Foundation

/// `darkroom develop`: one photo, no queue.
struct DevelopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "develop", abstract: "Develop one photo: a file, through the filters, into a file; no Redis.",
        discussion: """
            Unless --format is given, the ending of OUT tells the format that is written, and where it tells none, it is \
            the format of the photo.
            """,
        group: "Worker",
        examples: [
            "darkroom develop holiday.jpg sepia.jpg", "darkroom develop in.jpg out.png --filter tilt-shift=radius:5",
        ])

    @Argument(help: "The photo; - is standard input.", valueName: "in") var input: String
    @Argument(help: "The file that is written; - is standard output.", valueName: "out") var destination: String
    @Option(help: "The largest picture, in pixels.", valueName: "count") var maxPixels: Quantity = 100_000_000
    @Flag(help: "Print what was written as JSON.") var json: Bool
    @OptionGroup(title: "Image options") var image: ImageOptions

    func validate() throws {
        if json, destination == "-" {
            throw ValidationError("--json: standard output has the photo already; write it to a file")
        }
        if let operation = image.ownOperation {
            throw ValidationError(
                "--filter \(operation): only a worker that has this operation can run it; submit the photo in a list")
        }
    }

    func run() throws {
        let began = ContinuousClock.now
        let developed: DevelopedImage
        let bytes = [UInt8](try read())
        do throws(ImagingError) {
            developed = try Imaging.develop(bytes, options)
        } catch {
            throw CommandError("develop \(input): \(error)")
        }
        let output = StandardOutput()
        if destination == "-" {
            try developed.withUnsafeBytes { try output.write($0) }
            return try output.flush()
        }
        try write(developed)
        let milliseconds = (ContinuousClock.now - began).wholeMilliseconds
        if json {
            let facts: JSON = [
                "in": .string(input), "out": .string(destination), "format": .string(developed.format.rawValue),
                "width": .int(developed.width), "height": .int(developed.height), "bytes": .int(developed.byteCount),
                "milliseconds": .int(milliseconds),
            ]
            return try output.document(facts)
        }
        try output.line(
            "\(destination): \(developed.format.rawValue), \(developed.width) x \(developed.height), "
                + "\(HumanText.bytes(developed.byteCount)), \(HumanText.duration(Double(milliseconds) / 1000))")
        try output.flush()
    }

    private var options: DevelopOptions {
        DevelopOptions(
            filters: image.imageFilters, format: image.format.imageFormat ?? formatOfEnding, quality: image.quality,
            strip: image.strip, maxPixels: maxPixels.value)
    }

    /// The format that the ending of the file to be written stands for.
    private var formatOfEnding: ImageFormat? {
        let ending = URL(fileURLWithPath: destination).pathExtension.lowercased()
        let others: [String: ImageFormat] = ["jpeg": .jpeg, "tiff": .tiff, "heif": .heic]
        return ImageFormat.allCases.first { $0.fileExtension == ending } ?? others[ending]
    }

    private func read() throws -> Data {
        do {
            if input == "-" { return try FileHandle.standardInput.readToEnd() ?? Data() }
            return try Data(contentsOf: URL(fileURLWithPath: input))
        } catch {
            throw CommandError("read the photo \(input): \(reason(error))")
        }
    }

    /// Writes the file whole: under a temporary name, then renamed.
    private func write(_ developed: DevelopedImage) throws {
        do {
            let bytes = developed.withUnsafeBytes { Data($0) }
            try bytes.write(to: URL(fileURLWithPath: destination), options: .atomic)
        } catch {
            throw CommandError("write the photo \(destination): \(reason(error))")
        }
    }

    /// What the operating system said, where Foundation keeps it.
    private func reason(_ error: any Error) -> String {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
        return cause.map { String(cString: strerror($0.code.rawValue)) } ?? error.localizedDescription
    }
}
