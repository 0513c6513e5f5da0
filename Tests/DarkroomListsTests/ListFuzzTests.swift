import Foundation
import FuzzSupport
import Testing

/// Reads damaged lists, names and URLs, each generated from a seed. No case may crash the parser or give the name of a
/// file outside the output folder. For a long run:
/// `DARKROOM_FUZZ_COUNT=1000000 swift test --filter ListFuzzTests`.
@Suite struct ListFuzzTests {
    @Test func fuzzedListsNeitherCrashNorLeaveTheFolder() async throws {
        let run = FuzzRun("fuzzed lists", count: 8000)
        print(run)
        let failures = await run.inPieces(of: 10_000) { seeds, path in
            let (first, last) = (seeds.lowerBound, seeds.upperBound)
            #if compiler(>=6.3)
                await #expect(processExitsWith: .success) {
                    [first = first as UInt64, last = last as UInt64, path = path as String] in
                    try FuzzedLists().run(first..<last, note: FuzzNote(path: path))
                }
            #else
                #expect(throws: Never.self) {
                    try FuzzedLists().run(first..<last, note: FuzzNote(path: path, keepingStandardError: true))
                }
            #endif
        }
        for seed in failures { Issue.record("DARKROOM_FUZZ_SEED=\(seed) DARKROOM_FUZZ_COUNT=1 ends its process") }
    }
}
