import Foundation
import FuzzSupport
import Testing

@testable import DarkroomImaging

/// Damaged pictures, each the work of a seed: what cannot be read fails, and nothing worse. They are developed in processes of their
/// own, so that a decoder that crashes names its seed and the others are still tried. The long run:
/// `DARKROOM_FUZZ_COUNT=100000 swift test --filter MutationTests`.
@Suite struct MutationTests {
    @Test func mutatedImagesCrashNothing() async throws {
        let run = FuzzRun("mutated images", count: 2000)
        print(run)
        let culprits = await run.inPieces(of: 500) { seeds, path in
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
        for seed in culprits {
            let image = try MutatedImages().makeCase(seed)
            let file = FileManager.default.temporaryDirectory.appending(
                path: "darkroom-\(seed).\(image.format.fileExtension)")
            try Data(image.bytes).write(to: file)
            Issue.record("DARKROOM_FUZZ_SEED=\(seed) DARKROOM_FUZZ_COUNT=1 ends its process: \(file.path)")
        }
    }
}
