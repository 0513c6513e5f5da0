import ArgumentParsing
import Darkroom
import DarkroomText

/// The values of the option `--state`: the states of photos.
enum StateWord: String, CaseIterable, ExpressibleByArgument {
    case new, downloaded, filtered, failed, cancelled
}

/// `darkroom photos`: lists the photos of a batch.
struct PhotosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "photos", abstract: "List the photos of a batch, with their states.",
        discussion: """
            The command reads the names and URLs of photos that are done from the manifest in the output folder. If it \
            cannot read the manifest, it prints only index and state of these photos, and the failures that Redis keeps.
            """,
        group: "Monitor", synonyms: ["files", "failures", "errors"],
        examples: ["darkroom photos holidays", "darkroom photos holidays --state failed"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Option(help: "Only photos in this state.", valueName: "state") var state: [StateWord]
    @Flag(help: "Print a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws { try tableOptions.require(isTable: !json) }

    func run() throws {
        let wanted = Set(state.isEmpty ? StateWord.allCases.map(\.rawValue) : state.map(\.rawValue))
        let (_, client, found) = try redis.connect(to: batch)
        try found.requireSoundness()
        var photos = PhotoListing(found, in: client) { wanted.contains($0.word) }
        let output = StandardOutput()
        if json {
            var array = JSONArrayWriter(output)
            try photos.forEach { try array.add(JSON($0)) }
            try array.finish()
        } else {
            var table = Table(
                [
                    "index", "state", Table.Column("reason", rank: 4), "name", Table.Column("file", rank: 2),
                    Table.Column("url", rank: 1, most: 60), Table.Column("detail", rank: 3),
                ], tableOptions, to: output)
            try photos.forEach { photo in
                try table.add([
                    .number(photo.index), .text(photo.state.word), .text(photo.reason ?? ""), .text(photo.name ?? ""),
                    .text(photo.files.joined(separator: ", ")), .text(photo.url ?? ""), .text(photo.detail ?? ""),
                ])
            }
            try table.finish()
        }
        if let reason = photos.whyNamesAreMissing {
            printToStandardError("warning: the names of some photos are not shown: \(reason)")
        }
    }
}
