import DarkroomModel

/// An operation that a worker holds. The worker may run its photos.
package struct HeldOperation: Sendable, Hashable {
    package let batch: BatchID
    /// Its number in the batch, from 1.
    package let number: Int
    /// The fencing token of the claim.
    package let fencingToken: Int

    package init(batch: BatchID, number: Int, fencingToken: Int) {
        self.batch = batch
        self.number = number
        self.fencingToken = fencingToken
    }
}

extension HeldOperation {
    /// The operations that a worker holds as `renew_leases.lua` reads them: batch by batch.
    static func arguments(_ held: [HeldOperation]) -> [any ScriptArgument] {
        let byBatch = Dictionary(grouping: held, by: \.batch)
        var arguments: [any ScriptArgument] = [byBatch.count]
        for (batch, operations) in byBatch {
            arguments += [batch, operations.count]
            for operation in operations { arguments += [operation.number, operation.fencingToken] }
        }
        return arguments
    }
}

extension ScriptReply {
    /// The element at `position` as a list of batch id, operation number, fencing token, ...
    func operations(_ position: Int) throws(StoreError) -> [HeldOperation] {
        let list = try array(position)
        var operations: [HeldOperation] = []
        for at in stride(from: 0, to: list.count - 2, by: 3) {
            guard let batch = list[at].batch, let number = list[at + 1].operation,
                let fencingToken = list[at + 2].number
            else { throw unexpected }
            operations.append(HeldOperation(batch: batch, number: number, fencingToken: fencingToken))
        }
        return operations
    }
}
