import DarkroomModel

extension BatchStore {
    /// Submits a batch without photos. Repeating the call does no harm.
    /// - Parameters:
    ///   - id: a new id.
    ///   - options: the options of the batch.
    ///   - overwrite: whether the batch takes the output folder if another batch has it.
    ///   - seen: the number in the holder file of the output folder; 0 if there is none.
    ///   - others: the batches that it waits for, at most 100.
    package func submit(
        _ id: BatchID, _ options: BatchOptions, overwrite: Bool = false, above seen: Int = 0,
        after others: [BatchID] = []
    ) -> ScriptCall<SubmitReply> {
        var arguments: [any ScriptArgument] = [id, options.output, seen, overwrite, options.name, others.count]
        arguments += others
        for (field, value) in options.fields { arguments += [field, value] }
        return call(StoreScripts.submit, arguments)
    }
}

/// The reply of ``BatchStore/submit(_:_:overwrite:above:after:)``. Every case but ``submitted(at:)`` wrote nothing.
package enum SubmitReply: Sendable, Equatable, ScriptReplyDecodable {
    /// Submitted, at this time in ms of the Redis clock.
    case submitted(at: Int)
    /// The id was submitted before.
    case exists
    /// The id was submitted before, and the batch was forgotten since then.
    case forgotten
    /// That batch writes to the output folder.
    case outputTaken(by: BatchID)
    /// That batch has the name, and has neither finished nor been cancelled.
    case nameTaken(by: BatchID)
    /// There is no such batch to wait for.
    case gone(BatchID)

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .submitted(at: try reply.int(1))
        case "EXISTS": self = .exists
        case "FORGOTTEN": self = .forgotten
        case "OUTPUT": self = .outputTaken(by: try reply.batch(1))
        case "NAME": self = .nameTaken(by: try reply.batch(1))
        case "GONE": self = .gone(try reply.batch(1))
        default: throw reply.unexpected
        }
    }
}
