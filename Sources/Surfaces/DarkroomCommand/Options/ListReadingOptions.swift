import ArgumentParsing
import Darkroom
import DarkroomLists
import DarkroomText

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
    var quotes: PhotoList.Quotes?
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

    func validate() throws { try namingOptions { try photoList("").check() } }

    /// The list at a location, with these options.
    func photoList(_ location: String) -> PhotoList {
        var list = PhotoList(location)
        list.isRecursive = recursive
        list.urlColumn = urlColumn
        list.nameColumn = nameColumn
        list.quotes = quotes
        list.limit = limit?.value
        list.sample = sample?.value
        list.seed = seed
        return list
    }

    /// Throws if `--seed` is missing and therefore these options cannot select the same photos as an earlier command.
    func requireSeed() throws { try namingOptions { try photoList("").check(continues: true) } }

    /// Opens a list. For a sample, also counts the photos of the list.
    /// - Parameters:
    ///   - output: The output folder; when a folder of photos is read, photos in the output folder are skipped.
    ///   - selection: The photos that the batch takes.
    ///   - remark: Called with remarks about parts of the list that were skipped, converted or guessed. If this method
    ///     chooses the seed, also called with the seed.
    func open(
        _ list: String, output: String?, _ selection: PhotoSelection, remark: @escaping @Sendable (String) -> Void
    ) throws -> SelectedPhotos {
        let photos = try photoList(list).open(except: output, selection) { remark(RemedyWording.commands.text($0)) }
        if seed == nil, case .sample(let sample) = selection {
            remark("the seed of the sample is \(sample.seed); --seed \(sample.seed) takes the same photos again")
        }
        return photos
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
}
