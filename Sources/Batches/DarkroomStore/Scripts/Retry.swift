import DarkroomModel

extension BatchStore {
    /// Queues failed photos again. Each call does one bounded step.
    /// - Parameters:
    ///   - id: the batch.
    ///   - first: the first operation to examine.
    ///   - last: the last operation to examine. It may be larger than the number of operations fed so far.
    ///   - reasons: the failure reasons of the photos to retry; if empty, all failed photos are retried.
    ///   - overwrite: whether the batch takes its output folder back from another batch that has taken the folder.
    ///   - seen: the number in the holder file of the output folder; 0 if there is none.
    package func retry(
        _ id: BatchID, from first: Int = 1, through last: Int = 1_000_000_000, reasons: [FailureReason] = [],
        overwrite: Bool = false, above seen: Int = 0
    ) -> ScriptCall<RetryReply> {
        call(\.retry, [id, first, last, Self.pattern(reasons), overwrite ? String(seen) : ""])
    }

    /// The state codes of reasons as a part of a set in a Lua pattern. Consecutive codes become a range, because Lua
    /// compares each state code with each part of the set.
    private static func pattern(_ reasons: [FailureReason]) -> [UInt8] {
        var ranges: [ClosedRange<UInt8>] = []
        for code in Set(reasons.flatMap(\.stateCodes)).sorted() {
            if let last = ranges.last, last.upperBound + 1 == code {
                ranges[ranges.count - 1] = last.lowerBound...code
            } else {
                ranges.append(code...code)
            }
        }
        return ranges.flatMap { [$0.lowerBound, UInt8(ascii: "-"), $0.upperBound] }
    }
}

package enum RetryReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The number of photos queued again, the number of failed photos that have no entry, and the operation at which
    /// the next step begins (nil after the last step).
    case retried(photos: Int, notKept: Int, next: Int?)
    case cancelled
    /// The batches that wait for this batch are being made ready: try again.
    case busy
    /// Another batch has taken the output folder. Nothing was done.
    case outputTaken(by: BatchID)
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK":
            let next = try reply.int(3)
            self = .retried(photos: try reply.int(1), notKept: try reply.int(2), next: next == 0 ? nil : next)
        case "CANCELLED": self = .cancelled
        case "BUSY": self = .busy
        case "OUTPUT": self = .outputTaken(by: try reply.batch(1))
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
