import Foundation

/// The number and the seeds of the cases of a fuzz test: `DARKROOM_FUZZ_COUNT` and `DARKROOM_FUZZ_SEED`, if they are
/// set.
///
/// Case `i` depends only on the seed `seed + i`. To repeat a failed case, set its seed and the count 1.
public struct FuzzRun: CustomStringConvertible {
    /// The seed of the first case.
    public let seed: UInt64
    /// The number of cases.
    public let count: Int
    private let name: String

    /// Creates a run of `count` cases that starts at `seed`, unless the environment sets other values.
    public init(_ name: String, count: Int, seed: UInt64 = 20_260_701) {
        let environment = ProcessInfo.processInfo.environment
        self.name = name
        self.count = environment["DARKROOM_FUZZ_COUNT"].flatMap { Int($0) } ?? count
        self.seed = environment["DARKROOM_FUZZ_SEED"].flatMap { UInt64($0) } ?? seed
    }

    /// The environment variables that repeat the run, in one line.
    public var description: String { "\(name): DARKROOM_FUZZ_SEED=\(seed) DARKROOM_FUZZ_COUNT=\(count)" }

    /// Runs the cases in groups of `size`, each group in its own process.
    ///
    /// - Parameter perform: Runs the cases with these seeds in another process, which writes a ``FuzzNote`` at the
    ///   path. Exit tests with arguments require Swift 6.3. With an older compiler, the cases run in the test process,
    ///   and a crash ends the test.
    /// - Returns: The seeds of the cases in which the process ended.
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

/// A file in which a process records its current case. If the case ends the process, another process reads the seed.
public final class FuzzNote {
    private let file: Int32

    /// Creates a note at `path`. Unless `keepingStandardError` is set, redirects standard error to `<path>.words`.
    public init(path: String, keepingStandardError: Bool = false) {
        file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if keepingStandardError { return }
        let words = open(path + ".words", O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
        dup2(words, STDERR_FILENO)
        close(words)
    }

    deinit { close(file) }

    /// Records the start of the case of `seed`. If the case takes longer than `seconds`, the process ends.
    public func begin(_ seed: UInt64, seconds: UInt32) {
        alarm(seconds)
        write(seed)
    }

    /// Records the end of all cases before `seed`.
    public func end(_ seed: UInt64) {
        alarm(0)
        write(seed)
    }

    private func write(_ seed: UInt64) {
        withUnsafeBytes(of: seed) { _ = pwrite(file, $0.baseAddress, $0.count, 0) }
    }

    /// Returns the start of the standard error output, and removes its file.
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
