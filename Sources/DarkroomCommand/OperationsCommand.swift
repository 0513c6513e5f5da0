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
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (_, client, found) = try redis.connect(to: batch)
        try found.requireSoundness()
        let output = StandardOutput()
        if json {
            var array = JSONArrayWriter(output)
            try forEach(client, found) { try array.add(Self.json($0, $1, of: found)) }
            return try array.finish()
        }
        var table = Table(
            ["operation", "state", "first", "photos", "done", "failed", "expiries", "worker"], to: output)
        try forEach(client, found) { operation, first in
            let counts = PhotoCounts(stateCodes: operation.stateCodes, of: found)
            try table.add([
                .number(operation.number), .text(operation.state.rawValue), .number(first),
                .count(operation.stateCodes.count), .count(counts.final), .count(counts.failed),
                .count(operation.leaseExpiries),
                .text(operation.worker ?? ""),
            ])
        }
        try table.finish()
    }

    /// Reads 1,000 operations at a time. Calls `body` with each operation and the index of its first photo.
    private func forEach(
        _ client: DarkroomClient, _ batch: BatchFacts, _ body: (OperationFacts, Int) throws -> Void
    ) throws {
        for start in stride(from: 1, through: batch.operations, by: 1000) {
            let operations = try client.store.operations(of: batch, in: start...start + 999)
            let stateCodes = operations.reduce(0) { $0 + $1.stateCodes.count }
            let last = (operations.last?.number ?? 0) * batch.options.operationSize
            let lacking = min(last, batch.photos) - (start - 1) * batch.options.operationSize - stateCodes
            if lacking > 0 {
                throw try batch.incompleteness(in: client, "its operations were listed", lacking: lacking)
            }
            for operation in operations {
                try body(operation, (operation.number - 1) * batch.options.operationSize)
            }
        }
    }

    private static func json(_ operation: OperationFacts, _ first: Int, of batch: BatchFacts) -> JSON {
        [
            "operation": .int(operation.number), "state": .string(operation.state.rawValue), "first": .int(first),
            "photos": .int(operation.stateCodes.count),
            "counts": JSON(PhotoCounts(stateCodes: operation.stateCodes, of: batch)),
            "leaseExpiries": .int(operation.leaseExpiries), "worker": JSON(operation.worker),
        ]
    }
}

extension PhotoCounts {
    init(stateCodes: [UInt8], of batch: BatchFacts) {
        self.init()
        for stateCode in stateCodes {
            switch PhotoState(stateCode: stateCode, of: batch) {
            case .new, nil: new += 1
            case .downloaded: downloaded += 1
            case .filtered: filtered += 1
            case .failed: failed += 1
            case .cancelled: cancelled += 1
            }
        }
    }
}
