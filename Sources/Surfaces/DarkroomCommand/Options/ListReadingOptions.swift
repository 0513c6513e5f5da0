import ArgumentParsing
import Darkroom
import DarkroomLists

/// Options for reading a photo list.
struct ListReadingOptions: ParsableArguments {
    @Flag(
        help: "Include the subfolders of a folder of photos.",
        synonyms: ["r", "R", "recurse", "subfolders"]) var recursive: Bool
    @Option(help: "The column with the URLs in a CSV or TSV list, by its name or number.", valueName: "column")
    var urlColumn: String?
    @Option(help: "The column with the names.", valueName: "column") var nameColumn: String?
    @Option(
        help: """
            How quotation marks in a CSV or TSV list are read: csv, where they enclose fields, or literal, where they are \
            text. By default this is detected.
            """)
    var quotes: ListQuotes?
    @Option(
        help: "Take only the first photos of the list.", valueName: "count",
        synonyms: ["n", "count", "first", "head", "max"]) var limit: Quantity?
    @Option(help: "Take this number of photos at random, in the order of the list.", valueName: "count")
    var sample: Quantity?
    @Option(
        help: """
            The seed of --sample, from 0: the same seed takes the same photos of the same list. By default the command \
            chooses a seed and prints it.
            """,
        valueName: "number")
    var seed: Int?

    func validate() throws {
        try requireAtLeast(1, limit?.value ?? 1, "--limit")
        try requireAtLeast(1, sample?.value ?? 1, "--sample")
        try requireAtLeast(0, seed ?? 0, "--seed")
        if limit != nil, sample != nil { throw ValidationError("--limit and --sample: give only one of them") }
        if seed != nil, sample == nil { throw ValidationError("--seed: only with --sample <count>") }
    }

    /// Throws if the sample has no seed although it must be the sample of an earlier command.
    func requireSeed(with option: String) throws {
        guard sample != nil, seed == nil else { return }
        throw ValidationError("\(option) with --sample: give the seed of the batch, with --seed <number>")
    }

    /// The photos that the batch takes. If no seed is given, chooses one.
    /// - Parameter earlier: The sample of an earlier run; a sample of the same size gets its seed.
    func selection(earlier: PhotoSelection.Sample? = nil) -> PhotoSelection {
        if let limit { return .first(limit.value) }
        guard let sample else { return .all }
        let known = seed ?? (earlier?.photos == sample.value ? earlier?.seed : nil)
        return .sample(PhotoSelection.Sample(photos: sample.value, seed: known ?? Int.random(in: 1...999_999_999)))
    }

    /// Opens a list. For a sample, also counts the photos of the list.
    /// - Parameters:
    ///   - output: The output folder; when a folder of photos is read, photos in the output folder are skipped.
    ///   - selection: The photos that the batch takes.
    ///   - mayBePrivate: Whether the address of a list on the web may be private.
    ///   - limits: The limits for the list of somebody who is not trusted; nil for none.
    ///   - remark: Called with remarks about parts of the list that were skipped, converted or guessed, and with the
    ///     seed that was chosen.
    func open(
        _ list: String, output: String?, _ selection: PhotoSelection, mayBePrivate: Bool = true,
        limits: ListLimits? = nil, remark: @escaping @Sendable (String) -> Void
    ) throws -> SelectedPhotos {
        var options = ListOptions()
        options.isRecursive = recursive
        options.except = output
        options.mayBePrivate = mayBePrivate
        options.limits = limits
        options.columns = ListColumns(url: urlColumn, name: nameColumn)
        options.quotes = quotes
        let selected = try SelectedPhotos(
            PhotoListReader(list, options) { remark(RemedyWording.commands.text($0)) }, selection)
        if seed == nil, case .sample(let sample) = selection {
            remark("the seed of the sample is \(sample.seed); --seed \(sample.seed) takes the same photos again")
        }
        return selected
    }
}

extension PhotoSelection {
    /// The options that select these photos, with a space before each word; empty for all photos.
    var argumentText: String {
        switch self {
        case .all: ""
        case .first(let count): " --limit \(count)"
        case .sample(let sample): " --sample \(sample.photos) --seed \(sample.seed)"
        }
    }

    /// The sample; nil if the selection is not a sample.
    var sample: Sample? { if case .sample(let sample) = self { sample } else { nil } }
}

extension ListQuotes: ExpressibleByArgument {}
