import DarkroomModel

extension BatchStore {
    /// Submits a batch without photos. Repeating the call does no harm.
    /// - Parameters:
    ///   - id: a new id.
    ///   - options: the options of the batch.
    ///   - overwrite: whether the batch takes the output folder even if another batch has taken it.
    ///   - seen: the number in the holder file of the output folder; 0 if there is none.
    ///   - others: the batches that this batch waits for, at most 100.
    package func submit(
        _ id: BatchID, _ options: BatchOptions, overwrite: Bool = false, above seen: Int = 0,
        after others: [BatchID] = []
    ) -> ScriptCall<SubmitReply> {
        var arguments: [any ScriptArgument] = [id, options.output, seen, overwrite, options.name, others.count]
        arguments += others
        for (field, value) in options.fields { arguments += [field, value] }
        return call(\.submit, arguments)
    }
}

/// The reply of ``BatchStore/submit(_:_:overwrite:above:after:)``. Only ``submitted(at:)`` means that data was written.
package enum SubmitReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The batch was submitted at this Redis time, in milliseconds since 1970.
    case submitted(at: Int)
    /// A batch with this id has already been submitted.
    case exists
    /// A batch with this id was submitted earlier and has been forgotten.
    case forgotten
    /// Another batch has taken the output folder.
    case outputTaken(by: BatchID)
    /// Another batch has this name, and is neither finished nor cancelled.
    case nameTaken(by: BatchID)
    /// A batch that this batch waits for does not exist.
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
