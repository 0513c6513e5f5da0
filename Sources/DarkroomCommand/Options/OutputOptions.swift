import ArgumentParsing
import Darkroom

/// Where the photos of a batch are written, and how their files are called.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that the photos are written to.",
        valueName: "folder")
    var output: String
    @Option(
        help: """
            How files are called, before the ending: text with {name} and {index}; unless given, {name} for \
            property-list dictionaries and {index}-{name} otherwise.
            """,
        valueName: "template")
    var fileName: String?
    @Flag(help: "Write to the folder although another batch has it.") var overwrite: Bool
    @Flag(help: "The folder is not seen from here; workers make it.") var remoteOutput: Bool

    func validate() throws {
        if output.isEmpty { throw ValidationError("--output \"\": the folder's path is empty") }
    }

    /// Puts these into what a batch asks for.
    /// - Parameter defaultFileName: the template that holds unless one was given.
    func apply(to options: inout BatchOptions, defaultFileName: String) {
        options.output = absolutePath(output)
        options.fileName = fileName ?? defaultFileName
        options.remoteOutput = remoteOutput
    }
}
