import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// How a photo list is read, where its bytes leave that open.
struct ListReadingOptions: ParsableArguments {
    @Flag(help: "Of a folder of photos take its subfolders, too.") var recursive: Bool
    @Option(help: "The column of a CSV or TSV list that has the URLs, by its name or number.", valueName: "column")
    var urlColumn: String?
    @Option(help: "The column that has the names.", valueName: "column") var nameColumn: String?

    /// Opens a list.
    /// - Parameters:
    ///   - output: the folder that the photos are written to, which is no part of a folder of photos.
    ///   - remark: told what was left out, converted or guessed.
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
