import ArgumentParsing
import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import DarkroomText
import DarkroomWorker
import Foundation

/// `darkroom develop`: develops photo files directly, without a queue.
struct DevelopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "develop", abstract: "Develop photo files directly; needs no Redis.",
        discussion: """
            With two names, IN and OUT, the ending of OUT selects the output format. If OUT has no ending, the format \
            of the photo is kept. - as IN is standard input, - as OUT is standard output.

            With -o FOLDER, every argument names a photo or a folder of photos. Each photo is written to that folder \
            under its own name, in its own format or in the format of --format. A photo of a folder keeps its path \
            below that folder. If photos fail, the other photos are still developed, and the exit status is 3.

            Existing files are not replaced unless --force is given; the new file then gets the mode of the old file. \
            Links and devices are never replaced.
            """,
        group: "This machine", synonyms: ["convert"],
        examples: [
            "darkroom develop holiday.jpg sepia.jpg --filter sepia",
            "darkroom develop in.jpg out.png --filter tilt-shift=radius:5",
            "darkroom develop *.jpg -o developed --format webp",
            "darkroom develop holidays/ -o developed --recursive",
        ],
        mainOptions: [
            "output", "filter", "rendition", "format", "quality", "max-bytes", "metadata",
            "recursive", "jobs", "compare", "force", "json",
        ])

    @Argument(
        help: "The photo and the output file; with -o: the photos and folders of photos.", valueName: "photo",
        isRequired: true)
    var names: [String]
    @Option(
        name: .customLong("output", short: "o"),
        help: "The folder that all photos are written to; it is created if it does not exist.", valueName: "folder",
        synonyms: Mistakes.namesOfOutput)
    var output: String?
    @Flag(
        help: "With -o: include the subfolders of folders of photos.",
        synonyms: ["r", "R", "recurse", "subfolders"]) var recursive: Bool
    @Option(
        name: .shortAndLong,
        help: "With -o: the number of photos that are developed at a time; by default one per core.",
        valueName: "count",
        synonyms: Mistakes.namesOfParallelWork + ["cores", "cpus", "filtrations", "downloads"])
    var jobs: Int?
    @Flag(help: "Also write the photo before and after, side by side, to NAME.compare.EXT.") var compare: Bool
    @Flag(
        help: "Replace existing files.",
        synonyms: ["f", "overwrite", "replace", "y", "yes", "again"]) var force: Bool
    @Flag(help: "Give each file the time of its photo.") var keepTimes: Bool
    @Option(
        help: """
            The largest accepted picture, in pixels; by default 100M, or 1000M if its pixels are never in memory as a whole.
            """, valueName: "count")
    var maxPixels: Quantity?
    @Flag(help: "Print the facts of the written file as JSON; with -o, an array for all files.") var json: Bool
    @OptionGroup(title: "Image options") var image: ImageOptions

    func validate() throws {
        if let filter = try image.renditions().flatMap(\.filters.customNames).first {
            throw ValidationError(
                "--filter x:\(filter): develop runs no custom filters; to try one: darkroom run <folder> --limit 1 "
                    + "-o <folder> --filter x:\(filter) --custom-filter \(filter)='<command>'")
        }
        try require(1...1024, jobs ?? 1, "--jobs")
        if output == "" { throw ValidationError("--output \"\": the folder's path is empty") }
        guard output == nil else {
            if names.contains("-") {
                throw ValidationError("standard input has no name for a file in a folder; write darkroom develop - OUT")
            }
            return
        }
        if recursive || jobs != nil {
            throw ValidationError("\(recursive ? "--recursive" : "--jobs"): only with -o <folder>")
        }
        if try !image.options().renditions.isEmpty {
            throw ValidationError("--rendition: several files need a folder; write darkroom develop IN... -o <folder>")
        }
        guard names.count == 2 else {
            throw ValidationError(
                names.count == 1
                    ? "name the file that is written, as in: darkroom develop IN OUT; or a folder with -o <folder>"
                    : "\(names.count) names: darkroom develop IN OUT takes two; for many photos name a folder with -o "
                        + "<folder>")
        }
        if json || compare, names[1] == "-" {
            throw ValidationError(
                "\(json ? "--json" : "--compare"): standard output has the photo already; write it to a file")
        }
        try checkEnding(of: names[1])
    }

    /// Throws if the file name extension of the output contradicts `--format`, or is unknown and `--format` is absent.
    private func checkEnding(of destination: String) throws {
        let ending = Self.ending(of: destination)
        guard !ending.isEmpty else { return }
        var encoding = try image.options().encoding
        guard let format = ImageFormat(ending: ending) else {
            guard encoding.format == nil else { return }
            throw ValidationError(
                "\(destination): no format has the ending .\(ending); use "
                    + ImageFormat.endings.map { ".\($0)" }.joined(separator: ", ")
                    + ", or name the format with --format")
        }
        if let given = encoding.format, given != .fixed(format) {
            throw ValidationError(
                "--format \(given): the ending of \(destination) says \(format.rawValue); leave one of them out")
        }
        encoding.format = .fixed(format)
        try namingOptions { try Submission.check(encoding) }
    }

    func run() throws {
        let output = StandardOutput()
        try image.requireFormats()
        if image.filter.isEmpty { printToStandardError(try treatmentNote()) }
        if let folder = self.output { return try developAll(into: folder, output) }
        let format = Self.format(ofEnding: names[1])
        if let format, let problem = Imaging.problem(saving: [format]) { throw CommandError("\(names[1]): \(problem)") }
        // The output path is also checked here, so that an unusable path is reported before the photo is developed.
        if names[1] != "-" { try PhotoFile(path: names[1], replaces: force).check() }
        var recipe = try image.recipe(maxPixels: maxPixels?.value)
        if let format { recipe.renditions[0].encoding.format = .fixed(format) }
        let photo = try DevelopedPhoto(names[0], by: recipe, compares: compare)
        if photo.lostGainMap { printToStandardError(GainMapText.lost(1)) }
        if names[1] == "-" {
            try photo.products[0].withUnsafeBytes { try output.write($0) }
            return try output.flush()
        }
        try write(files(of: photo, at: [names[1]]))
        if json { return try output.document(photo.json(photo.products[0], names[1])) }
        try output.line(photo.text(photo.products[0], names[1]))
        try output.flush()
    }

    /// A line that describes the treatment of the photos. The file name extension of OUT may set the format, as in
    /// `moon.png moon.webp`.
    private func treatmentNote() throws -> String {
        var options = try image.options()
        if output == nil, let format = Self.format(ofEnding: names[1]) {
            options.encoding.format = .fixed(format)
        }
        return options.treatmentText
    }

    /// The path of the comparison for a written photo: `NAME.compare.EXT`.
    private static func comparisonPath(_ path: String, _ comparison: PhotoProduct) -> String {
        let stem = format(ofEnding: path) == nil ? path : String(path.dropLast(ending(of: path).count + 1))
        return "\(stem).compare.\(comparison.ending)"
    }

    /// A file to write.
    struct OutputFile {
        let path: String
        let product: PhotoProduct
        /// Nil for the current time.
        let time: FileTime?
    }

    /// The files of a photo: its products with these paths, and its comparisons.
    func files(of photo: DevelopedPhoto, at paths: [String]) -> [OutputFile] {
        let time = keepTimes ? photo.time : nil
        return zip(paths, photo.products).map { OutputFile(path: $0, product: $1, time: time) }
            + zip(paths, photo.comparisons).map {
                OutputFile(path: Self.comparisonPath($0, $1), product: $1, time: time)
            }
    }

    /// Writes the files of a photo. If a file may not be written to one of the paths, no file is written.
    func write(_ files: [OutputFile]) throws(CommandError) {
        for file in files { try PhotoFile(path: file.path, replaces: force).check() }
        for file in files {
            let written = PhotoFile(path: file.path, replaces: force)
            try file.product.withUnsafeBytes { bytes throws(CommandError) in try written.write(bytes, time: file.time) }
        }
    }

    private static func ending(of path: String) -> String { URL(fileURLWithPath: path).pathExtension }

    static func format(ofEnding path: String) -> ImageFormat? { ImageFormat(ending: ending(of: path)) }
}
