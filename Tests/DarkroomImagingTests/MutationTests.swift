import Foundation
import FuzzSupport
import Testing

@testable import DarkroomImaging

/// Develops damaged pictures, each generated from a seed. A picture may fail, but not crash the process. Child
/// processes develop the pictures; if one of them crashes, the test reports the seed and runs the other seeds. For a
/// long run:
/// `DARKROOM_FUZZ_COUNT=100000 swift test --filter MutationTests`.
@Suite struct MutationTests {
    @Test func mutatedImagesDoNotCrash() async throws {
        let run = FuzzRun("mutated images", count: 2000)
        print(run)
        let failures = await run.inPieces(of: 500) { seeds, path in
            let (first, last) = (seeds.lowerBound, seeds.upperBound)
            #if compiler(>=6.3)
                await #expect(processExitsWith: .success) {
                    [first = first as UInt64, last = last as UInt64, path = path as String] in
                    try MutatedImages().run(first..<last, note: FuzzNote(path: path))
                }
            #else
                #expect(throws: Never.self) {
                    try MutatedImages().run(first..<last, note: FuzzNote(path: path, keepingStandardError: true))
                }
            #endif
        }
        for seed in failures {
            let image = try MutatedImages().makeCase(seed)
            let file = FileManager.default.temporaryDirectory.appending(
                path: "darkroom-\(seed).\(image.format.fileExtension)")
            try Data(image.bytes).write(to: file)
            Issue.record("DARKROOM_FUZZ_SEED=\(seed) DARKROOM_FUZZ_COUNT=1 ends its process: \(file.path)")
        }
    }
}
