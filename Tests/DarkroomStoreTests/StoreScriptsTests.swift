import DarkroomModel
import Foundation
import Testing

@testable import DarkroomStore

@Suite struct StoreScriptsTests {
    private static let operations = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/DarkroomStore/Operations").standardizedFileURL

    @Test func connectionsLoadTheScriptOfEveryOperation() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.operations.path)
        #expect(StoreScripts.all.map(\.name).sorted() == files.filter { $0.hasSuffix(".lua") }.sorted())
    }
}
