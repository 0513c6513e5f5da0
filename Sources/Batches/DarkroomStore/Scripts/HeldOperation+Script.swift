import DarkroomModel

extension HeldOperation {
    /// The held operations, grouped by batch, as the arguments that `renew_leases.lua` reads.
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
    /// Decodes the element at `position`: a list of batch id, operation number, fencing token, and so on.
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
