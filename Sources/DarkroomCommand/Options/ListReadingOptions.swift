import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// Options for reading a photo list.
struct ListReadingOptions: ParsableArguments {
    @Flag(help: "Include the subfolders of a folder of photos.") var recursive: Bool
    @Option(help: "The column with the URLs in a CSV or TSV list, by its name or number.", valueName: "column")
    var urlColumn: String?
    @Option(help: "The column with the names.", valueName: "column") var nameColumn: String?

    /// Opens a list.
    /// - Parameters:
    ///   - output: The output folder; when a folder of photos is read, photos in the output folder are skipped.
    ///   - remark: Called with remarks about parts of the list that were skipped, converted or guessed.
    func open(
        _ list: String, output: String?, remark: @escaping @Sendable (String) -> Void
    ) throws -> PhotoListReader {
        var options = ListOptions()
        options.isRecursive = recursive
        options.except = output
        options.columns = ListColumns(url: urlColumn, name: nameColumn)
        return try PhotoListReader(list, options, remark: remark)
    }
}
