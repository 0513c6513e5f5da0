import Foundation

/// How many cases a fuzz test tries, and which: `DARKROOM_FUZZ_COUNT` and `DARKROOM_FUZZ_SEED`, where they are set.
///
/// Case number `i` is made from the seed `seed + i` alone, so one that fails is tried again by giving that seed and the count 1.
public struct FuzzRun: CustomStringConvertible {
    /// The seed of the first case.
    public let seed: UInt64
    /// How many cases.
    public let count: Int
    private let name: String

    /// A run of `count` cases unless told otherwise.
    public init(_ name: String, count: Int, seed: UInt64 = 20_260_701) {
        let environment = ProcessInfo.processInfo.environment
        self.name = name
        self.count = environment["DARKROOM_FUZZ_COUNT"].flatMap { Int($0) } ?? count
        self.seed = environment["DARKROOM_FUZZ_SEED"].flatMap { UInt64($0) } ?? seed
    }

    /// One line that says how to do the same again.
    public var description: String { "\(name): DARKROOM_FUZZ_SEED=\(seed) DARKROOM_FUZZ_COUNT=\(count)" }

    /// The cases in pieces for processes of their own.
    ///
    /// - Parameter perform: Runs the cases with these seeds in another process, which keeps a ``FuzzNote`` at the path.
    ///   Exit tests that take arguments came with Swift 6.3; an older compiler runs the cases in the test's own process,
    ///   which a crash then ends.
    /// - Returns: The seeds that ended their process.
    public func inPieces(of size: Int, _ perform: (_ seeds: Range<UInt64>, _ note: String) async -> Void) async
        -> [UInt64]
    {
        let end = seed + UInt64(count)
        var next = seed
        var culprits: [UInt64] = []
        while next < end, culprits.count < 20 {
            let path = FileManager.default.temporaryDirectory.appending(path: "darkroom-fuzz-\(UUID().uuidString)").path
            let last = min(next + UInt64(size), end)
            await perform(next..<last, path)
            let begun = FuzzNote.lastBegun(at: path)
            let words = FuzzNote.words(at: path)
            if let begun, begun < last {
                print("seed \(begun): \(words)")
                culprits.append(begun)
                next = begun + 1
            } else {
                next = last
            }
        }
        return culprits
    }
}

/// Where a process notes which case it is at, so that another can tell which one ended it.
public final class FuzzNote {
    private let file: Int32

    /// A note at `path`; beside it goes what this process writes to standard error from now on, unless that is kept.
    public init(path: String, keepingStandardError: Bool = false) {
        file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if keepingStandardError { return }
        let words = open(path + ".words", O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
        dup2(words, STDERR_FILENO)
        close(words)
    }

    deinit { close(file) }

    /// Says that the case of `seed` begins, which is a process's last when it takes longer than `seconds`.
    public func begin(_ seed: UInt64, seconds: UInt32) {
        alarm(seconds)
        write(seed)
    }

    /// Says that all cases before the one of `seed` are through.
    public func end(_ seed: UInt64) {
        alarm(0)
        write(seed)
    }

    private func write(_ seed: UInt64) {
        withUnsafeBytes(of: seed) { _ = pwrite(file, $0.baseAddress, $0.count, 0) }
    }

    /// The beginning of what was written to standard error; there is no other reading of it.
    fileprivate static func words(at path: String) -> String {
        defer { unlink(path + ".words") }
        let bytes = FileManager.default.contents(atPath: path + ".words") ?? Data()
        return String(decoding: bytes.prefix(2000), as: UTF8.self)
    }

    fileprivate static func lastBegun(at path: String) -> UInt64? {
        defer { unlink(path) }
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count == 8 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
}
