import ArgumentParsing
import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import DarkroomText
import DarkroomWorker
import Foundation

/// Options for filters, renditions and the encoding of the files.
struct ImageOptions: ParsableArguments {
    @Option(
        help: """
            A filter such as sepia, resize=800x600 or tilt-shift=radius:3, or several, separated by spaces. Filters are \
            applied in the given order; by default none, and photos stay as they are. darkroom filters lists them.
            """,
        valueName: "filter",
        synonyms: ["effect", "f"])
    var filter: [ChainArgument]
    @Option(
        help: """
            Make several files of each photo: NAME='FILTERS; format=webp; quality=70' writes to the folder NAME. May be \
            given several times.
            """,
        valueName: "rendition")
    var rendition: [PhotoRendition]
    @Option(help: "A file with a rendition in each line.", valueName: "file") var recipe: RecipeArgument?

    @Option(
        help: EncodingSetting.format.summary, valueName: "format",
        synonyms: ["type", "to", "output-format", "ext", "extension", "t"]) var format: String?
    @Option(
        help: EncodingSetting.quality.summary + " By default 85.", valueName: "number",
        synonyms: ["q"]) var quality: String?
    @Flag(help: EncodingSetting.lossless.summary) var lossless: Bool
    @Option(help: EncodingSetting.effort.summary, valueName: "number") var effort: String?
    @Flag(help: EncodingSetting.progressive.summary) var progressive: Bool
    @Option(help: EncodingSetting.chroma.summary, valueName: "kind") var chroma: String?
    @Flag(help: EncodingSetting.palette.summary) var palette: Bool
    @Option(
        help: EncodingSetting.maxBytes.summary, valueName: "size",
        synonyms: ["max-size", "file-size"]) var maxBytes: String?
    @Option(help: EncodingSetting.metadata.summary, valueName: "kinds") var metadata: String?
    @Flag(
        help: "Remove metadata and colour profile: --metadata none.",
        synonyms: ["strip-metadata", "no-metadata", "strip-exif"]) var strip: Bool
    @Option(help: EncodingSetting.background.summary + " By default white.", valueName: "colour")
    var background: String?
    @Flag(help: EncodingSetting.srgb.summary) var srgb: Bool
    @Option(help: EncodingSetting.hdr.summary + " By default tone-map.", valueName: "kind") var hdr: String?
    @Option(
        help: """
            What to do with damaged photos: fail, tolerate defects that lose no pixels, or accept what can be decoded.
            """)
    var onDamaged: DamagedPhotos = .tolerate
    @Option(help: "The frames of animations: first, or keep all if the output is GIF or WebP.")
    var animation: AnimationFrames = .first

    func advice(onUnknownOption name: String, value: String?) -> OptionAdvice? {
        Mistakes.advice(onOptionForFilter: name, value: value)
    }

    func validate() throws {
        if metadata != nil, strip { throw ValidationError("--strip: it is --metadata none; leave one of them out") }
        if recipe != nil, !rendition.isEmpty {
            throw ValidationError("--recipe: the renditions are in the file; leave --rendition out")
        }
        _ = try options()
    }

    /// Throws if this machine cannot write the format of a file.
    func requireFormats() throws {
        for rendition in try renditions() {
            guard let problem = Imaging.problem(saving: rendition.encoding.candidates) else { continue }
            throw CommandError((rendition.name.isEmpty ? "--format" : "rendition \(rendition.name)") + ": \(problem)")
        }
    }

    /// A line that describes the treatment of the photos, for the start of a command.
    func treatmentNote() throws -> String { try options().treatmentText }

    /// The files that are made of each photo, see ``BatchOptions/completeRenditions()``.
    func renditions() throws -> [PhotoRendition] { try options().completeRenditions() }

    /// The batch options that result from these options, in canonical form.
    func options() throws -> BatchOptions {
        try namingOptions(name(of:)) {
            var form = Submission("")
            try fill(&form)
            return try form.options.checkedImages()
        }
    }

    /// Fills the fields of a submission from these options.
    func fill(_ form: inout Submission) throws(FieldError) {
        try form.setFilters(filter.map(\.filters))
        form.setRenditions(recipe?.renditions ?? rendition)
        let texts: [(field: Submission.Field, text: String?)] = [
            (.format, format), (.quality, quality), (.effort, effort), (.chroma, chroma), (.maxBytes, maxBytes),
            (.metadata, strip ? "none" : metadata), (.background, background), (.hdr, hdr),
            (.lossless, lossless ? "true" : nil), (.progressive, progressive ? "true" : nil),
            (.palette, palette ? "true" : nil), (.srgb, srgb ? "true" : nil),
        ]
        for (field, text) in texts {
            if let text { try form.set(field, to: [text]) }
        }
        form.damagedPhotos = onDamaged
        form.keepsAnimations = animation == .keep
    }

    /// The name of a field in messages: its option, or `--recipe` for renditions of a recipe.
    func name(of field: Submission.Field) -> String {
        guard field == .renditions, let recipe else { return field.option }
        return "--recipe \"\(recipe.path)\""
    }
}

extension ImageOptions {
    /// The recipe for photos of this machine, with watermarks of this machine.
    /// - Throws: `CommandError` if a watermark is missing or is not a picture.
    func recipe(maxPixels: Int? = nil) throws -> PhotoRecipe {
        do {
            return try PhotoRecipe(options(), maxPixels: maxPixels) { Self.folder(of: $0) }
        } catch let failure as Overlays.Failure {
            throw CommandError((failure.rendition.isEmpty ? "--filter: " : "") + "\(failure)")
        }
    }

    /// The folder of the file at an absolute path.
    static func folder(of path: String) -> String {
        let folder = Path.split(path).folder ?? ""
        return folder.isEmpty ? "/" : folder
    }

    /// The folders of the watermarks.
    func watermarkFolders() throws -> [String] {
        try renditions().flatMap(\.filters.builtIn).filter { $0.kind == .watermark }
            .compactMap { $0.text("image").map(Self.folder) }
    }
}

/// The value of `--filter`: one filter or several.
struct ChainArgument: ExpressibleByArgument {
    let filters: [PhotoFilter]

    init(argument: String) throws {
        filters = try parsed { () throws(ChainSyntaxError) in try [PhotoFilter](parsing: argument) }
    }
}

extension PhotoRendition: ExpressibleByArgument {
    package init(argument: String) throws {
        self = try parsed { () throws(ChainSyntaxError) in try PhotoRendition(parsing: argument) }
    }
}

/// The value of `--recipe`. The file is read once, so that the commands use the text that was checked.
struct RecipeArgument: ExpressibleByArgument {
    let path: String
    let renditions: [PhotoRendition]

    init(argument: String) throws {
        path = argument
        let text = try Self.text(argument)
        renditions = try parsed { () throws(ChainSyntaxError) in try [PhotoRendition](parsing: text) }
    }

    private static func text(_ path: String) throws(InvalidValue) -> String {
        guard let path = Path.real(path) else { throw InvalidValue(systemErrorText()) }
        let bytes: [UInt8]
        do throws(SystemFailure) {
            let below = Path.components(of: path).joined(separator: "/")
            bytes = try Folder(trusted: "/").contents(of: below, maxBytes: PhotoRendition.maxRecipeBytes)
        } catch {
            throw InvalidValue(
                error.error == EFBIG
                    ? "it has more than \(HumanText.count(PhotoRendition.maxRecipeBytes)) bytes" : error.text)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw InvalidValue("it is not UTF-8 text") }
        return text
    }
}

/// Parses the value of an option. The error shows the position of the mistake.
private func parsed<Value>(_ parse: () throws(ChainSyntaxError) -> Value) throws(InvalidValue) -> Value {
    do throws(ChainSyntaxError) {
        return try parse()
    } catch {
        throw InvalidValue(error)
    }
}

extension InvalidValue {
    fileprivate init(_ error: ChainSyntaxError) { self.init("\(error)\n\(error.pointed)") }
}
