import ArgumentParsing
import Darkroom
import DarkroomStore

/// `darkroom operations`: lists the operations of a batch.
struct OperationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "operations", abstract: "List the operations of a batch, with their states and workers.",
        group: "Monitor", examples: ["darkroom operations holidays"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Flag(help: "Print a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws { try tableOptions.require(isTable: !json) }

    func run() throws {
        let (_, client, found) = try redis.connect(to: batch)
        try found.requireSoundness()
        let listing = OperationListing(found, in: client)
        let output = StandardOutput()
        if json {
            var array = JSONArrayWriter(output)
            try listing.forEach { try array.add(JSON($0, of: found)) }
            return try array.finish()
        }
        var table = Table(
            ["operation", "state", "first", "photos", "done", "failed", "expiries", "worker"], tableOptions, to: output)
        try listing.forEach { operation in
            let counts = PhotoCounts(stateCodes: operation.stateCodes, of: found)
            try table.add([
                .number(operation.number), .text(operation.state.rawValue), .number(operation.firstPhoto(of: found)),
                .count(operation.stateCodes.count), .count(counts.final), .count(counts.failed),
                .count(operation.leaseExpiries),
                .text(operation.worker ?? ""),
            ])
        }
        try table.finish()
    }
}
