import ArgumentParsing
import Darkroom

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

    /// Fills the fields of these options.
    /// - Parameter output: The output folder as the user gave it; empty for none.
    func fill(_ form: inout Submission, output: String) throws(ValidationError) {
        form.fileName = fileName
        form.overwrite = overwrite
        form.output = output.isEmpty ? "" : try place(output, "--output")
        form.originals = originals.map(absolutePath) ?? ""
        form.redactURLs = redactUrls
        form.keepsTimes = keepTimes
    }
}
