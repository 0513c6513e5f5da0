import DarkroomStore

/// Lists the operations of a batch in order.
package struct OperationListing {
    private let batch: BatchFacts
    private let client: DarkroomClient

    package init(_ batch: BatchFacts, in client: DarkroomClient) {
        self.batch = batch
        self.client = client
    }

    /// Calls `body` with each operation with a number in `range`. Reads 1,000 operations at a time.
    /// - Parameter range: numbers from 1; nil for all operations.
    /// - Throws: ``DarkroomError`` with the code `noSuchBatch` if the batch is forgotten during the listing.
    package func forEach(in range: ClosedRange<Int>? = nil, _ body: (OperationFacts) throws -> Void) throws {
        let range = range ?? 1...max(1, batch.operations), size = batch.options.operationSize
        for start in stride(from: range.lowerBound, through: min(range.upperBound, batch.operations), by: 1000) {
            let operations = try client.store.operations(of: batch, in: start...min(start + 999, range.upperBound))
            let stateCodes = operations.reduce(0) { $0 + $1.stateCodes.count }
            let last = (operations.last?.number ?? 0) * size
            let lacking = min(last, batch.photos) - (start - 1) * size - stateCodes
            if lacking > 0 {
                throw try batch.incompleteness(in: client, "its operations were listed", lacking: lacking)
            }
            for operation in operations { try body(operation) }
        }
    }
}

extension OperationFacts {
    /// The index of the operation's first photo.
    package func firstPhoto(of batch: BatchFacts) -> Int { (number - 1) * batch.options.operationSize }
}

extension JSON {
    package init(_ operation: OperationFacts, of batch: BatchFacts) {
        self = [
            "operation": .int(operation.number), "state": .string(operation.state.rawValue),
            "first": .int(operation.firstPhoto(of: batch)), "photos": .int(operation.stateCodes.count),
            "counts": JSON(PhotoCounts(stateCodes: operation.stateCodes, of: batch)),
            "leaseExpiries": .int(operation.leaseExpiries), "worker": JSON(operation.worker),
        ]
    }
}

extension PhotoCounts {
    /// Counts the states of photos.
    package init(stateCodes: [UInt8], of batch: BatchFacts) {
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
