import ArgumentParsing
import Darkroom
import DarkroomImaging
import Foundation

/// `darkroom develop`: develops photo files directly, without a queue.
struct DevelopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "develop", abstract: "Develop photo files directly; needs no Redis.",
        discussion: """
            With two names, IN and OUT, the ending of OUT selects the output format. If OUT has no ending, the format \
            of the photo is kept. - as IN is standard input, - as OUT is standard output.

            With -o FOLDER, every argument names a photo. Each photo is written to that folder under its own name, in \
            its own format or in the format of --format. If photos fail, the other photos are still developed, and the \
            exit status is 3.

            Existing files are not replaced unless --force is given; the new file then gets the mode of the old file. \
            Links and devices are never replaced.
            """,
        group: "This machine", synonyms: ["convert"],
        examples: [
            "darkroom develop holiday.jpg sepia.jpg", "darkroom develop in.jpg out.png --filter tilt-shift=radius:5",
            "darkroom develop *.jpg -o developed --format webp",
        ])

    @Argument(
        help: "The photo and the output file; with -o: the photos.", valueName: "photo", isRequired: true)
    var names: [String]
    @Option(
        name: .customLong("output", short: "o"),
        help: "The folder that all photos are written to; it is created if it does not exist.", valueName: "folder")
    var output: String?
    @Flag(help: "Replace existing files.") var force: Bool
    @Option(help: "The largest accepted picture, in pixels.", valueName: "count") var maxPixels: Quantity = 100_000_000
    @Flag(help: "Print the facts of the written file as JSON; with -o, an array for all files.") var json: Bool
    @OptionGroup(title: "Image options") var image: ImageOptions

    func validate() throws {
        if let operation = image.customOperation {
            throw ValidationError(
                "--filter \(operation): only a worker that has this operation can run it; submit the photo in a list")
        }
        if output == "" { throw ValidationError("--output \"\": the folder's path is empty") }
        guard output == nil else {
            if names.contains("-") {
                throw ValidationError("standard input has no name for a file in a folder; write darkroom develop - OUT")
            }
            return
        }
        guard names.count == 2 else {
            throw ValidationError(
                names.count == 1
                    ? "name the file that is written, as in: darkroom develop IN OUT; or a folder with -o <folder>"
                    : "\(names.count) names: darkroom develop IN OUT takes two; for many photos name a folder with -o "
                        + "<folder>")
        }
        if json, names[1] == "-" {
            throw ValidationError("--json: standard output has the photo already; write it to a file")
        }
        try checkEnding(of: names[1])
    }

    /// Throws if the ending of the output file contradicts `--format`, or is unknown and there is no `--format`.
    private func checkEnding(of destination: String) throws {
        let ending = Self.ending(of: destination)
        guard !ending.isEmpty else { return }
        let asked = image.format.imageFormat
        guard let format = ImageFormat(ending: ending) else {
            guard asked == nil else { return }
            throw ValidationError(
                "\(destination): no format has the ending .\(ending); use "
                    + ImageFormat.endings.map { ".\($0)" }.joined(separator: ", ")
                    + ", or name the format with --format")
        }
        if let asked, asked != format {
            throw ValidationError(
                "--format \(asked.rawValue): the ending of \(destination) says \(format.rawValue); leave one of them out"
            )
        }
    }

    func run() throws {
        let output = StandardOutput()
        if let folder = self.output { return try developAll(into: folder, output) }
        // The output path is also checked here, so that an unusable path is reported before the photo is developed.
        if names[1] != "-" { try PhotoFile(path: names[1], replaces: force).check() }
        let photo = try developing.develop(names[0], as: image.format.imageFormat ?? Self.format(ofEnding: names[1]))
        if names[1] == "-" {
            try photo.image.withUnsafeBytes { try output.write($0) }
            return try output.flush()
        }
        try write(photo, to: names[1])
        if json { return try output.document(photo.json(names[1])) }
        try output.line(photo.text(names[1]))
        try output.flush()
    }

    /// Develops every photo and writes it to the folder. If a photo fails, its error is printed, and the other photos
    /// are still developed.
    private func developAll(into folder: String, _ output: StandardOutput) throws {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandError("make the folder \(folder): \(systemReason(error))")
        }
        var written: [String: String] = [:]
        var array = JSONArrayWriter(output)
        var failed = 0
        for name in names {
            do {
                let photo = try developing.develop(name, as: image.format.imageFormat)
                let path = "\(folder)/\(Self.fileName(of: name, photo.image.format))"
                if let other = written[path] {
                    throw CommandError("write the photo \(path): the photo of \(other) has that name already")
                }
                try write(photo, to: path)
                written[path] = name
                if json { try array.add(photo.json(path)) } else { try output.line(photo.text(path)) }
            } catch let error as CommandError {
                failed += 1
                printToStandardError("error: \(error)")
            }
        }
        if json { try array.finish() } else { try output.flush() }
        guard failed > 0 else { return }
        printToStandardError("\(HumanText.count(failed)) of \(HumanText.count(names.count, of: "photo")) failed")
        throw ExitCode.photosFailed
    }

    private var developing: PhotoDeveloping {
        PhotoDeveloping(
            filters: image.imageFilters, quality: image.quality, strip: image.strip, maxPixels: maxPixels.value)
    }

    private func write(_ photo: PhotoDeveloping.Photo, to path: String) throws(CommandError) {
        let file = PhotoFile(path: path, replaces: force)
        try photo.image.withUnsafeBytes { bytes throws(CommandError) in try file.write(bytes) }
    }

    private static func ending(of path: String) -> String { URL(fileURLWithPath: path).pathExtension }

    private static func format(ofEnding path: String) -> ImageFormat? { ImageFormat(ending: ending(of: path)) }

    /// The file name of a developed photo in a folder: the photo's name, with a new extension if the format changes.
    private static func fileName(of photo: String, _ format: ImageFormat) -> String {
        let file = URL(fileURLWithPath: photo)
        let own = Self.format(ofEnding: photo)
        if own == format { return file.lastPathComponent }
        return (own == nil ? file : file.deletingPathExtension()).lastPathComponent + "." + format.fileExtension
    }
}
