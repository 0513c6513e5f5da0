import ArgumentParsing
import Darkroom

/// `darkroom manifest`: what is in an output folder, without any Redis.
struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "manifest", abstract: "Print what is in an output folder: a line a photo, in order; needs no Redis.",
        discussion: """
            Several batches that wrote to the folder come one after the other. Photos that have not been developed, and \
            those that a cancelled batch never began, have no line.
            """,
        group: "Monitor",
        examples: ["darkroom manifest developed", "darkroom manifest developed --csv > photos.csv"])

    @Argument(help: "The folder that photos were written to.") var folder: String
    @Flag(help: "Print comma-separated values with a header.") var csv: Bool
    @Flag(help: "Print a JSON array.") var json: Bool

    func validate() throws {
        if csv, json { throw ValidationError("--csv and --json: choose one") }
    }

    func run() throws {
        let reader = ManifestReader(output: folder)
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
            try reader.forEachLine { try output.write(ManifestCSV.row($0).utf8) }
            return try output.flush()
        }
        var table = Table(
            ["batch", "index", "state", "reason", "name", "file", "width", "height", "bytes", "url"], to: output)
        try reader.forEachLine { line in
            try table.add([
                .text(line.batch.description), .number(line.index), .text(line.state), .text(line.reason ?? ""),
                .text(line.name),
                .text(line.file ?? ""), .number(line.width), .number(line.height), .bytes(line.bytes), .text(line.url),
            ])
        }
        try table.finish()
    }
}
