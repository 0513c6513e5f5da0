import ArgumentParsing
import Darkroom

/// How the files of a batch are called, and whether they may come to lie among others.
struct OutputOptions: ParsableArguments {
    @Option(
        help: """
            How files are called, before the ending: text with {name} and {index}; unless given, {name} for \
            property-list dictionaries and {index}-{name} otherwise.
            """,
        valueName: "template")
    var fileName: String?
    @Flag(help: "Write to the folder although another batch has it.") var overwrite: Bool

    /// Puts these into what a batch asks for.
    /// - Parameter output: the folder's path as the user gave it.
    /// - Throws: ``ValidationError`` when the template does not suit the list.
    func apply(to options: inout BatchOptions, output: String, list: PhotoListReader) throws {
        let template = fileName ?? list.standardFileNameTemplate
        do {
            options.fileName = try FileNameTemplate(template, namesAreUnique: list.namesAreUnique).description
        } catch {
            throw ValidationError("--file-name: \(error)")
        }
        options.output = absolutePath(output)
    }
}
