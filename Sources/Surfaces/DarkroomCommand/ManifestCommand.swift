import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomStorage

/// `darkroom manifest`: prints the manifest of an output folder. Needs no Redis.
struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "manifest", abstract: "Print the manifest of an output folder: a line for each photo.",
        discussion: """
            The command needs no Redis. If several batches have written to the folder, the command prints the lines of one batch after the other, \
            in list order. Photos that are not done have no line, nor have photos that a cancelled batch never \
            started.

            A photo with several renditions has a line for each file; with --json, it is one object, with the files in \
            "renditions".

            With --csv, a text that begins with =, +, -, @, a tab or a carriage return is prefixed with an apostrophe, \
            so that spreadsheets do not evaluate it as a formula. --json prints every text unchanged.
            """,
        group: "Monitor",
        examples: ["darkroom manifest developed", "darkroom manifest developed --csv > photos.csv"])

    @Argument(help: "The folder that photos were written to.") var folder: String
    @Flag(help: "Print comma-separated values with a header.") var csv: Bool
    @Flag(help: "Print a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions

    func validate() throws {
        try tableOptions.require(isTable: !json && !csv)
        if csv, json { throw ValidationError("--csv and --json: choose one") }
    }

    func run() throws {
        let reader = StorageSchemes.place(folder).results.manifest
        let output = StandardOutput()
        if json {
            var array = JSONArrayWriter(output)
            try reader.forEachLine { line in
                try array.add { bytes in
                    line.append(to: &bytes)
                    bytes.removeLast()  // the line feed
                }
            }
            return try array.finish()
        }
        if csv {
            try output.write(ManifestCSV.header.utf8)
            try reader.forEachLine { try output.write(ManifestCSV.rows($0, isForTerminal: output.isTerminal).utf8) }
            return try output.flush()
        }
        var table = Table(
            [
                Table.Column("batch", rank: 2), "index", "state", Table.Column("reason", rank: 6), "name",
                Table.Column("file", rank: 5), Table.Column("width", rank: 3), Table.Column("height", rank: 3),
                Table.Column("bytes", rank: 4), Table.Column("url", rank: 1), Table.Column("detail", rank: 6, most: 60),
            ], tableOptions, to: output)
        try reader.forEachLine { line in
            for file in line.rows {
                try table.add([
                    .text(line.batch.description), .number(line.index), .text(line.state), .text(line.reason ?? ""),
                    .text(line.name), .text(file?.file ?? ""), .number(file?.width), .number(file?.height),
                    .bytes(file?.bytes), .text(line.url), .text(line.detail ?? ""),
                ])
            }
        }
        try table.finish()
    }
}
