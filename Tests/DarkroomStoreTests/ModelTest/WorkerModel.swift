import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// What a worker knows: what it believes to hold, and what became of the photos.
struct WorkerModel {
    let id: String
    /// The number of its last claim.
    private(set) var number = 0
    /// True when its last claim has not been answered.
    var isUnanswered = false
    var isStalled = false
    var work: [Work] = []

    /// An operation that it believes to hold.
    struct Work {
        var held: HeldOperation
        var letters: [UInt8]
        /// True when it heard that the batch was cancelled.
        var isCancelled = false
        var bytesIn = 0
        var bytesOut = 0

        /// Some of the photos get on.
        mutating func goOn(_ random: inout ModelRandom) {
            let finish = random.chance(35)
            for index in letters.indices where [UInt8(ascii: "N"), UInt8(ascii: "D")].contains(letters[index]) {
                guard finish || random.chance(40) else { continue }
                let outcomes = finish ? "FFFFFag" : "NDDFFFFCagz"
                letters[index] = random.pick(Array(outcomes.utf8))!
                guard letters[index] != UInt8(ascii: "N"), letters[index] != UInt8(ascii: "D") else { continue }
                bytesIn += Int.random(in: 0...1000, using: &random)
                bytesOut += Int.random(in: 0...1000, using: &random)
            }
        }
    }

    init(id: String) { self.id = id }

    var held: [HeldOperation] { work.map(\.held) }

    /// The next claim; after one that was not answered the same number again, if the worker is `repeating` it.
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

    /// What a heartbeat said of batches that were cancelled, and of photos.
    mutating func hear(_ reply: HeartbeatReply) {
        for at in work.indices {
            if reply.steering[work[at].held.batch]?.isCancelled == true { work[at].isCancelled = true }
            for letters in reply.letters
            where letters.batch == work[at].held.batch && letters.number == work[at].held.number {
                for (index, letter) in letters.letters.enumerated() where letter == UInt8(ascii: "C") {
                    work[at].letters[index] = letter
                }
            }
        }
    }

    mutating func take(_ operations: [ClaimedOperation]) {
        for operation in operations where !held.contains(operation.held) {
            work.removeAll { $0.held.batch == operation.held.batch && $0.held.number == operation.held.number }
            work.append(Work(held: operation.held, letters: operation.letters))
        }
    }

    /// What it reports of the operation at `position` of operations of `size` photos: everything, or parts of it.
    func report(_ position: Int, size: Int, _ random: inout ModelRandom) -> Message.Report {
        let work = work[position]
        let whole = random.chance(60)
        let letters = work.letters.map { whole || random.chance(50) ? $0 : UInt8(ascii: ".") }
        var report = Message.Report(held: work.held, worker: id, letters: letters)
        report.bytesIn = work.bytesIn
        report.bytesOut = work.bytesOut
        let keepsFailures = random.chance(90)
        for (offset, letter) in letters.enumerated() where keepsFailures && (97...122).contains(letter) {
            report.failures.append((work.held.number - 1) * size + offset)
        }
        return report
    }
}
