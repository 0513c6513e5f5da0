import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomStorage

/// Options for output files and kept downloads.
struct OutputOptions: ParsableArguments {
    @Option(
        help: """
            The template for file names without the ending: text with {index}, {name} or {stem}; {stem} is the name \
            without the ending of a picture. The default is {name} or {stem} for property-list dictionaries and \
            {index}-{name} for other lists.
            """,
        valueName: "template")
    var fileName: String?
    @Flag(
        help: "Write to the folder even if another batch has written to it.",
        synonyms: ["force", "f", "replace"]) var overwrite: Bool
    @Option(
        help: """
            Keep complete downloads below this folder. Photos that another batch has downloaded to it are read from \
            there and not downloaded again.
            """,
        valueName: "folder")
    var originals: String?

    @Flag(
        help: """
            Leave query and fragment of URLs out of the manifest. The manifest never contains user and password; logs, \
            errors and the failures in Redis never contain user, password, query and fragment.
            """)
    var redactUrls: Bool
    @Flag(
        help: """
            Give each file the time of its photo: the Last-Modified of the server, or the time of the local file.
            """)
    var keepTimes: Bool

    func validate() throws {
        if originals == "" { throw ValidationError("--originals \"\": the folder's path is empty") }
    }

    /// Applies these options to the options of a batch.
    /// - Parameter output: The output as the user gave it.
    /// - Throws: ``ValidationError`` if the template for file names cannot be used with the list.
    func apply(to options: inout BatchOptions, output: String, list: PhotoListReader) throws {
        do {
            options.fileName = try list.fileNameTemplate(fileName).description
        } catch {
            throw ValidationError("--file-name: \(error)")
        }
        options.photosFolder = list.photosFolder
        options.output = try place(output, "--output")
        let place = StorageSchemes.place(options.output)
        let names = options.renditions.map(\.name)
        if list.format == .folder, place.mixes(with: list.photosFolder, renditions: names) {
            throw CommandError(
                "\(place.title): its files would be in the folder of the photos, \(list.photosFolder), and the next run "
                    + "would develop them again; choose another folder")
        }
        options.originals = originals.map(absolutePath) ?? ""
        options.redactURLs = redactUrls
        options.keepsTimes = keepTimes
    }
}
