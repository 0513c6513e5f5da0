import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// The state of a worker: the operations that the worker assumes it holds, and the states of their photos.
struct WorkerModel {
    let id: String
    /// The number of the worker's last claim.
    private(set) var number = 0
    /// Whether the last claim has no reply yet.
    var isUnanswered = false
    var isStalled = false
    var work: [Work] = []

    /// An operation that the worker assumes it holds.
    struct Work {
        var held: HeldOperation
        var stateCodes: [UInt8]
        /// Whether a reply has told the worker that the batch is cancelled.
        var isCancelled = false
        var bytesIn = 0
        var bytesOut = 0

        /// Changes some of the photos to later states.
        mutating func advance(_ random: inout ModelRandom) {
            let finish = random.chance(35)
            for index in stateCodes.indices where [UInt8(ascii: "N"), UInt8(ascii: "D")].contains(stateCodes[index]) {
                guard finish || random.chance(40) else { continue }
                // 0x80 and 0xFF are state codes of reasons that this version does not know.
                let outcomes = Array((finish ? "FFFFFag" : "NDDFFFFCagz").utf8) + [0x80, 0xFF]
                stateCodes[index] = random.pick(outcomes)!
                guard stateCodes[index] != UInt8(ascii: "N"), stateCodes[index] != UInt8(ascii: "D") else { continue }
                bytesIn += Int.random(in: 0...1000, using: &random)
                bytesOut += Int.random(in: 0...1000, using: &random)
            }
        }
    }

    init(id: String) { self.id = id }

    var held: [HeldOperation] { work.map(\.held) }

    /// The next claim. If the last claim got no reply and `repeating` is true, the next claim has the same number.
    mutating func claim(repeating: Bool) -> Message.Claim {
        if !isUnanswered || !repeating {
            number += 1
            isUnanswered = false
        }
        return Message.Claim(worker: id, number: number, held: held)
    }

    mutating func drop(_ lost: [HeldOperation]) {
        work.removeAll { lost.contains($0.held) }
    }

    /// Applies the cancelled batches and photos of a heartbeat reply.
    mutating func apply(_ reply: HeartbeatReply) {
        for at in work.indices {
            if reply.controls[work[at].held.batch]?.isCancelled == true { work[at].isCancelled = true }
            for stateCodes in reply.stateCodes
            where stateCodes.batch == work[at].held.batch && stateCodes.number == work[at].held.number {
                for (index, stateCode) in stateCodes.stateCodes.enumerated() where stateCode == UInt8(ascii: "C") {
                    work[at].stateCodes[index] = stateCode
                }
            }
        }
    }

    mutating func take(_ operations: [ClaimedOperation]) {
        for operation in operations where !held.contains(operation.held) {
            work.removeAll { $0.held.batch == operation.held.batch && $0.held.number == operation.held.number }
            work.append(Work(held: operation.held, stateCodes: operation.stateCodes))
        }
    }

    /// A report of all or some photos of the operation at `position`. Operations have `size` photos.
    func report(_ position: Int, size: Int, _ random: inout ModelRandom) -> Message.Report {
        let work = work[position]
        let whole = random.chance(60)
        let stateCodes = work.stateCodes.map { whole || random.chance(50) ? $0 : UInt8(ascii: ".") }
        var report = Message.Report(held: work.held, worker: id, stateCodes: stateCodes)
        report.bytesIn = work.bytesIn
        report.bytesOut = work.bytesOut
        let keepsFailures = random.chance(90)
        for (offset, stateCode) in stateCodes.enumerated() where keepsFailures && FailureReason.isStateCode(stateCode) {
            report.failures.append((work.held.number - 1) * size + offset)
        }
        return report
    }
}
