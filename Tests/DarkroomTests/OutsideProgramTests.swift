import Darkroom
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

/// Programs outside of the package. The code in the README runs, code that uses internal types does not compile, and
/// the list of public types is complete.
///
/// `deploy/outside` builds the program of the README with SwiftPM, in a package that depends on this package by path.
/// That takes minutes, so these tests link the program with the modules that are built for the tests.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct OutsideProgramTests {
    let redis = RedisServer.current

    @Test func codeOfTheREADMEFollowsABatchToItsEnd() async throws {
        let namespace = redis.namespace()
        let folder = redis.folder + "/" + namespace
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let photo = "file://\(TestFiles.samples)/astronaut.jpg"
        let list = "name,url\n" + (0..<61).map { "photo \($0),\(photo)\n" }.joined()
        try Data(list.utf8).write(to: URL(fileURLWithPath: folder + "/photos.csv"))
        let source = try Self.blocks()[0]
            .replacing(
                #""redis://127.0.0.1:6379""#,
                with: "\"\(redis.configuration.displayName)\", namespace: \"\(namespace)\""
            )
            .replacing("/mnt/photos/holidays", with: folder + "/developed")
        let program = folder + "/program"
        let build = try compile(source, ["-o", program])
        try #require(build.status == 0, "\(build.text)")

        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = [TestFiles.samples]
        let worker = try PhotoWorker(
            RedisLocation(redis.configuration.displayName, namespace: namespace), configuration)
        try await worker.run {
            let outcome = try ChildProgram(program: URL(fileURLWithPath: program), arguments: [], folder: folder).run()
            #expect(outcome.status == 0, "\(outcome.text)")
            let last = outcome.text.split(separator: "\n").last ?? ""
            #expect(last == "61 of 61", "\(outcome.text)")
            // This program starts to follow the batch after the batch has finished.
            let again = try compile(
                """
                import Darkroom
                let client = try DarkroomClient("\(redis.configuration.displayName)", namespace: "\(namespace)")
                let batch = try await client.batches()[0]
                for try await update in client.follow(batch.id) {
                    if case .facts(let facts) = update { print(facts.counts.done, "of", facts.photos) }
                }
                """, ["-o", program])
            try #require(again.status == 0, "\(again.text)")
            let late = try ChildProgram(program: URL(fileURLWithPath: program), arguments: [], folder: folder).run()
            #expect(late.status == 0 && late.text.split(separator: "\n").count == 1, "\(late.text)")
        }
    }

    @Test func codeOfTheDocumentationCompiles() throws {
        let pages = ["README.md", "Sources/Surfaces/Darkroom/Darkroom.docc/Darkroom.md"]
        let source = try pages.flatMap(Self.blocks(of:)).map { block in
            "func block\(UInt32.random(in: 0...UInt32.max))() async throws {\n"
                + block.replacing("import Darkroom\n", with: "") + "}\n"
        }
        let check = try compile("import Darkroom\n" + source.joined(), ["-typecheck", "-parse-as-library"])
        #expect(check.status == 0, "\(check.text)")
    }

    @Test(arguments: [
        ("client.store.perform(client.store.forget(\"x\"))", "'store' is inaccessible"),
        ("client.control.cancelAll()", "'control' is inaccessible"),
        ("BatchStore.self", "cannot find 'BatchStore' in scope"), ("JSON.self", "cannot find 'JSON' in scope"),
        ("BatchFacts(id: \"x\", fields: [:], reasons: [:])", "is inaccessible"),
    ]) func codeWithInternalTypesDoesNotCompile(_ expression: String, _ message: String) throws {
        let source = "import Darkroom\nfunc call(_ client: DarkroomClient) throws { _ = try \(expression) }\n"
        let check = try compile(source, ["-typecheck", "-parse-as-library"])
        #expect(check.status != 0 && check.text.contains(message), "\(check.text)")
    }

    @Test func listOfPublicTypesIsComplete() throws {
        var found: Set<String> = []
        for module in ["Darkroom", "DarkroomModel", "DarkroomRecipes", "DarkroomWorker"] {
            let folder = redis.folder + "/symbols"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let arguments =
                ["-module-name", module, "-minimum-access-level", "public", "-output-dir", folder]
                + (try flags(isLinking: false))
                .filter { !$0.hasPrefix("-swift-version") && $0 != "6" }
            let extractor = try compiler().deletingLastPathComponent().appendingPathComponent(
                "swift-symbolgraph-extract")
            let run = try ChildProgram(program: extractor, arguments: arguments, folder: folder).run()
            try #require(run.status == 0, "\(run.text)")
            let graph = try JSONDecoder().decode(
                SymbolGraph.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(module).symbols.json")))
            for symbol in graph.symbols
            where ["swift.struct", "swift.class", "swift.enum", "swift.protocol"].contains(symbol.kind.identifier) {
                found.insert(symbol.pathComponents.joined(separator: "."))
            }
            let undocumented = graph.symbols.filter { $0.docComment == nil && !$0.isSynthesized }
            #expect(undocumented.isEmpty, "\(undocumented.map { $0.pathComponents.joined(separator: ".") })")
        }
        let page = try String(
            contentsOf: TestFiles.package.appendingPathComponent("Sources/Surfaces/Darkroom/Darkroom.swift"),
            encoding: .utf8
        )
        let list = page.split(separator: "\n").filter { $0.hasPrefix("//  ") }.flatMap { line in
            line.dropFirst(16).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
                !$0.isEmpty
            }
        }
        #expect(found.subtracting(list).isEmpty, "not listed")
        #expect(Set(list).subtracting(found).isEmpty, "listed, but missing")
        #expect(list.filter { !$0.contains(".") }.count <= 42)
    }

    // MARK: - Building

    /// The Swift blocks of a page.
    private static func blocks(of page: String = "README.md") throws -> [String] {
        try String(contentsOf: TestFiles.package.appendingPathComponent(page), encoding: .utf8)
            .components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
    }

    /// Compiles a program as part of another package: without `-package-name`.
    private func compile(_ source: String, _ options: [String]) throws -> (status: Int32, text: String) {
        let isLinking = options.contains("-o")
        let file = redis.folder + "/main\(isLinking ? "" : "-checked").swift"
        try Data(source.utf8).write(to: URL(fileURLWithPath: isLinking ? redis.folder + "/main.swift" : file))
        let arguments = [isLinking ? redis.folder + "/main.swift" : file] + options + (try flags(isLinking: isLinking))
        return try ChildProgram(program: compiler(), arguments: arguments, folder: redis.folder).run(
            within: .seconds(120))
    }

    private func compiler() throws -> URL { URL(fileURLWithPath: try Self.arguments("module")[0]) }

    /// The compiler flags for the built modules and, if `isLinking`, the flags and objects for the linker.
    private func flags(isLinking: Bool) throws -> [String] {
        var flags: [String] = []
        var rest = try Self.arguments("module").dropFirst()[...]
        while let flag = rest.popFirst() {
            if ["-I", "-Xcc", "-target", "-swift-version"].contains(flag), let value = rest.popFirst() {
                flags += [flag, value]
            }
            if flag.hasPrefix("-I/") || flag.hasPrefix("-sanitize") { flags.append(flag) }
        }
        guard isLinking else { return flags }
        flags += try Self.arguments("exe").filter { $0.hasPrefix("-l") || $0.hasPrefix("-L/") }
        let list = ChildProgram.built.appendingPathComponent("ControlBatch.product/Objects.LinkFileList")
        return flags
            + (try String(contentsOf: list, encoding: .utf8)).split(separator: "\n").map { line in
                line.trimmingCharacters(in: ["'", "\""])
            }.filter { !$0.contains("/ControlBatch.build/") }
    }

    /// The arguments with which SwiftPM compiles (`module`) or links (`exe`) an example. The build description of
    /// SwiftPM contains them.
    private static func arguments(_ step: String) throws -> [String] {
        let built = ChildProgram.built
        let description = built.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(built.lastPathComponent + ".yaml")
        let lines = try String(contentsOf: description, encoding: .utf8).split(separator: "\n")
        let start = try #require(
            lines.firstIndex { $0.hasPrefix("  \"C.ControlBatch-") && $0.hasSuffix(".\(step)\":") })
        let arguments = try #require(lines[start...].first { $0.hasPrefix("    args: ") })
        return try JSONDecoder().decode([String].self, from: Data(arguments.dropFirst("    args: ".count).utf8))
    }
}

/// The output of `swift-symbolgraph-extract`, with the fields that the test uses.
private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Identifier: Decodable { let precise: String }
        struct Comment: Decodable {}
        let kind: Kind
        let identifier: Identifier
        let pathComponents: [String]
        let docComment: Comment?

        /// True if the type has the symbol from a protocol, which documents it.
        var isSynthesized: Bool { identifier.precise.contains("::SYNTHESIZED::") }
    }

    let symbols: [Symbol]
}
