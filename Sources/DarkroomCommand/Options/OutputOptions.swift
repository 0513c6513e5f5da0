import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// How the files of a batch are called, whether they may come to lie among others, and where downloads are kept.
struct OutputOptions: ParsableArguments {
    @Option(
        help: """
            How files are called, before the ending: text with {index} and {name}, or {stem}, the name without a \
            picture's ending; unless given, {name} or {stem} for property-list dictionaries and {index}-{name} otherwise.
            """,
        valueName: "template")
    var fileName: String?
    @Flag(help: "Write to the folder although another batch has it.") var overwrite: Bool
    @Option(
        help: """
            Keep what is downloaded below this folder for good, whole or not at all, and read from there what another batch \
            has downloaded instead of fetching it again.
            """,
        valueName: "folder")
    var originals: String?

    @Flag(
        help: """
            Leave query and fragment of URLs out of the manifest, which never has user and password. Logs, errors and what \
            Redis keeps of failures have none of them.
            """)
    var redactUrls: Bool

    func validate() throws {
        if originals == "" { throw ValidationError("--originals \"\": the folder's path is empty") }
    }

    /// Puts these into what a batch asks for.
    /// - Parameter output: the folder's path as the user gave it.
    /// - Throws: ``ValidationError`` when the template does not suit the list.
    func apply(to options: inout BatchOptions, output: String, list: PhotoListReader) throws {
        do {
            options.fileName = try list.fileNameTemplate(fileName).description
        } catch {
            throw ValidationError("--file-name: \(error)")
        }
        options.photosFolder = list.photosFolder
        options.output = absolutePath(output)
        options.originals = originals.map(absolutePath) ?? ""
        options.redactURLs = redactUrls
    }
}
