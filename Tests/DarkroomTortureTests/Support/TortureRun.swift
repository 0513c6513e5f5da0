import Foundation
import FuzzSupport

/// The number of faults of a run, or its duration, and its seed: `DARKROOM_TORTURE_COUNT` (or
/// `DARKROOM_TORTURE_MINUTES`) and `DARKROOM_TORTURE_SEED`, if they are set.
///
/// The seed determines the faults and their times. The reactions of the system differ between runs.
struct TortureRun {
    /// The seed of ``random``.
    let seed: UInt64
    /// The number of faults, or `Int.max` if the run has a duration.
    let count: Int
    /// The random choices of the run.
    var random: SeededGenerator

    private let name: String
    /// Whether the count or the duration is set by the environment.
    private let isConfigured: Bool
    private let began = ContinuousClock.now
    private let deadline: ContinuousClock.Instant?

    /// Creates a run, of `count` faults by default. Prints how to repeat the run.
    init(_ name: String, count: Int) {
        let environment = ProcessInfo.processInfo.environment
        func number(_ variable: String) -> Int? { environment["DARKROOM_TORTURE_\(variable)"].flatMap { Int($0) } }
        self.name = name
        seed = environment["DARKROOM_TORTURE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)
        random = SeededGenerator(seed: seed)
        isConfigured = number("MINUTES") != nil || number("COUNT") != nil
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

    /// The time limit for a reaction: the published limit if the environment configures the run, otherwise at least one
    /// minute, since the machine may be busy with other tests.
    func bound(_ published: Duration) -> Duration { isConfigured ? published : max(published, .seconds(60)) }

    /// Whether another fault follows after `done` faults.
    func goesOn(after done: Int) -> Bool { done < count && deadline.map { .now < $0 } ?? true }

    /// Prints one row of the report, and appends it as JSON to the file `DARKROOM_TORTURE_REPORT` if it is set.
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
            defer { try? file.close() }  // an error is ignored: the writes have succeeded
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try file.write(contentsOf: try encoder.encode(row) + Data("\n".utf8))
        } catch {
            say("the report \(path) cannot be written: \(error)")
        }
    }

    /// Prints without buffering, even if standard output is a file.
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

/// A failure of a torture test.
struct TortureFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
