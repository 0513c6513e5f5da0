import DarkroomModel

extension BatchStore {
    /// Reports the states of an operation's photos. Repeating the call does no harm.
    /// - Parameters:
    ///   - held: the operation, with the fencing token of its claim.
    ///   - worker: the worker that holds the operation.
    ///   - stateCodes: one code per photo: `.` unchanged, `N` downloaded bytes discarded, `D`, or a final state code.
    ///   - lostGainMaps: the positions of the filtered photos that lost their gain maps. A photo is counted when it
    ///     becomes filtered, so repeated reports do not count it again.
    ///   - bytesIn: the downloaded bytes of all photos that have become final since this claim.
    ///   - bytesOut: the written bytes of the same photos.
    ///   - failures: the index of each failed photo, and its failure as JSON.
    package func report(
        _ held: HeldOperation, worker: String, stateCodes: [UInt8], lostGainMaps: Set<Int> = [],
        bytesIn: Int, bytesOut: Int, failures: [(index: Int, json: [UInt8])] = []
    ) -> ScriptCall<ReportReply> {
        let filtered = PhotoState.filtered.stateCode
        let codes =
            lostGainMaps.isEmpty
            ? stateCodes
            : stateCodes.enumerated().map { position, code in
                code == filtered && lostGainMaps.contains(position) ? UInt8(ascii: "G") : code
            }
        var arguments: [any ScriptArgument] = [
            worker, held.fencingToken, held.batch, held.number, codes, bytesIn, bytesOut,
        ]
        for (index, json) in failures { arguments += [index, json] as [any ScriptArgument] }
        return call(\.report, arguments)
    }
}

package enum ReportReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The report was accepted. `stateCodes` is nil unless a final state code in Redis differs from the reported code.
    /// `version` is the number of the last change of a flag, limit, priority or focus.
    case accepted(ended: Bool, stateCodes: [UInt8]?, version: Int = 0)
    /// The batch is cancelled, and nothing was changed. Photos that were not final have the state code C.
    case cancelled(stateCodes: [UInt8])
    case gone
    /// The operation is queued again, or another worker holds it: the worker must discard its result.
    case lost
    /// The operation has ended; `stateCodes` are the state codes of its photos.
    case ended(stateCodes: [UInt8])

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK":
            let stateCodes = try reply.bytes(2)
            self = .accepted(
                ended: try reply.int(1) == 1, stateCodes: stateCodes.isEmpty ? nil : stateCodes,
                version: try reply.int(3))
        case "CANCELLED": self = .cancelled(stateCodes: try reply.bytes(1))
        case "GONE": self = .gone
        case "LOST": self = .lost
        case "ENDED": self = .ended(stateCodes: try reply.bytes(1))
        default: throw reply.unexpected
        }
    }
}
