import Foundation
import FuzzSupport

/// How often a fault is made, and by which seed: `DARKROOM_TORTURE_COUNT` (or `DARKROOM_TORTURE_MINUTES`) and
/// `DARKROOM_TORTURE_SEED`, where they are set.
///
/// The seed decides what is done and when; what the system makes of it differs from run to run.
struct TortureRun {
    /// The seed of ``random``.
    let seed: UInt64
    /// How many faults; the largest number there is when the run has a duration instead.
    let count: Int
    /// What decides.
    var random: SeededGenerator

    private let name: String
    /// Whether it was asked how often faults are made.
    private let isOfItsOwn: Bool
    private let began = ContinuousClock.now
    private let deadline: ContinuousClock.Instant?

    /// A run of `count` faults unless told otherwise; prints how to do the same again.
    init(_ name: String, count: Int) {
        let environment = ProcessInfo.processInfo.environment
        func number(_ variable: String) -> Int? { environment["DARKROOM_TORTURE_\(variable)"].flatMap { Int($0) } }
        self.name = name
        seed = environment["DARKROOM_TORTURE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)
        random = SeededGenerator(seed: seed)
        isOfItsOwn = number("MINUTES") != nil || number("COUNT") != nil
        if let minutes = number("MINUTES") {
            self.count = .max
            deadline = began + .seconds(60 * minutes)
            say("DARKROOM_TORTURE_SEED=\(seed) DARKROOM_TORTURE_MINUTES=\(minutes)")
        } else {
            self.count = number("COUNT") ?? count
            deadline = nil
            say("DARKROOM_TORTURE_SEED=\(seed) DARKROOM_TORTURE_COUNT=\(self.count)")
        }
    }

    /// Within what time something must have happened: what is published for a run of its own, and a minute where a few faults are made
    /// among all other tests, on machines that stand still for seconds now and then.
    func bound(_ published: Duration) -> Duration { isOfItsOwn ? published : max(published, .seconds(60)) }

    /// Whether another fault is to be made after `done` of them.
    func goesOn(after done: Int) -> Bool { done < count && deadline.map { .now < $0 } ?? true }

    /// One row of the report: printed, and appended as JSON to the file `DARKROOM_TORTURE_REPORT` where it is set.
    func report(_ result: [(what: String, value: String)]) {
        let seconds = Int((ContinuousClock.now - began).components.seconds)
        let text = result.map { "\($0.value) \($0.what)" }.joined(separator: ", ")
        say("\(text) (seed \(seed), \(seconds) s)")
        guard let path = ProcessInfo.processInfo.environment["DARKROOM_TORTURE_REPORT"] else { return }
        let row = Row(
            fault: name, result: result.map { .init(what: $0.what, value: $0.value) }, seconds: seconds, seed: seed,
            text: text)
        do {
            let file = try open(path)
            defer { try? file.close() }  // what could fail was written before
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try file.write(contentsOf: try encoder.encode(row) + Data("\n".utf8))
        } catch {
            say("the report \(path) cannot be written: \(error)")
        }
    }

    /// Prints at once, also where standard output is a file.
    private func say(_ text: String) {
        print("torture \(name): \(text)")
        fflush(nil)
    }

    private struct Row: Encodable {
        struct Figure: Encodable {
            let what: String
            let value: String
        }

        let fault: String
        let result: [Figure]
        let seconds: Int
        let seed: UInt64
        let text: String
    }

    private func open(_ path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        return file
    }
}

/// What did not go as it must.
struct TortureFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
