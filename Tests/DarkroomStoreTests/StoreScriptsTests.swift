import DarkroomTestSupport
import DarkroomModel
import Foundation
import Testing

@testable import DarkroomStore

@Suite struct StoreScriptsTests {
    private static let scripts = TestFiles.package.appendingPathComponent("Sources/Batches/DarkroomStore/Scripts")

    @Test func connectionsLoadEveryScript() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.scripts.path + "/Lua")
        #expect(StoreScripts.all.map(\.name).sorted() == files.sorted())
    }

    @Test func scriptsMayIncludeEveryStep() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.scripts.path + "/Steps")
        #expect(StoreScripts.steps.keys.sorted() == files.sorted())
    }

    /// Scripts build key names from the definitions in the prelude. Swift code builds them from ``Keys``.
    @Test func preludeDefinesTheKeysOfKeys() throws {
        let keys = try Keys()
        let id = BatchID("batch")
        let ofCluster = [
            keys.control, keys.batches, keys.open, keys.batch(id), keys.ready(.high), keys.leases, keys.deferred,
            keys.workers, keys.worker("w"),
            keys.outputs, keys.names, keys.expiring, keys.forgotten, keys.releases, keys.webhooks, keys.staleFiles,
            keys.totals, keys.history, keys.repair, keys.repairWanted, keys.repairRound, keys.repairStates,
        ]
        let ofBatch = [
            keys.states(id), keys.operations(id), keys.queue(id), keys.executing(id), keys.leaseExpiries(id),
            keys.retries(id), keys.failures(id), keys.reasons(id), keys.dependencies(id), keys.dependents(id),
        ]
        let prelude = String(decoding: try #require(StoreScripts.steps["prelude.lua"]), as: UTF8.self)
        func defined(_ pattern: Regex<(Substring, Substring)>) -> [String] {
            prelude.matches(of: pattern).map { String($0.output.1) }.sorted()
        }
        let names = ofCluster.map { $0.dropFirst(keys.prefix.count) }.map { name in
            name.firstIndex(of: ":").map { String(name[...$0]) } ?? String(name)
        }
        #expect(defined(#/--#define KEY_\w+ prefix \.\. '(.+)'/#) == names.sorted())
        #expect(defined(#/--#define DEFERRED (\d+)/#) == ["\(Keys.deferredScore)"])
        let longest = Deferral.longest.wholeMilliseconds
        #expect(defined(#/--#define MOST_DEFERRAL (\d+)/#) == ["\(longest)"])
        #expect(defined(#/--#define CHANNEL_\w+ prefix \.\. '(.+)'/#) == ["control", "events"])
        let suffixes = ofBatch.map { String($0.dropFirst(keys.batch(id).count)) }
        let refused = String(keys.refused(by: "w").dropFirst(keys.worker("w").count))
        #expect(defined(#/--#define \w+ '(:.+)'/#) == (suffixes + [refused]).sorted())
    }

    @Test func replacesOnlyWholeNames() {
        var text = ScriptText(steps: ["names.lua": Array("--#define KEY prefix .. 'key'\n--#define PAIR KEY, KEY".utf8)]
        )
        let script = "#!lua\n-- KEY\n--#include names.lua\nlocal KEYS, aKEY = KEY, {PAIR}"
        #expect(
            text.expanded(Array(script.utf8))
                == "#!lua\n-- KEY\n\nlocal KEYS, aKEY = prefix .. 'key', {prefix .. 'key', prefix .. 'key'}")
    }

    @Test func includesEachStepOnce() {
        var text = ScriptText(steps: ["a.lua": Array("--#include b.lua\nlocal a".utf8), "b.lua": Array("local b".utf8)])
        let script = "--#include b.lua\n--#include a.lua\n--#include a.lua\nreturn a"
        #expect(text.expanded(Array(script.utf8)) == "local b\nlocal a\nreturn a")
    }

    @Test func includesAStepOnceInEachBlock() {
        var text = ScriptText(steps: ["a.lua": Array("local a".utf8), "b.lua": Array("--#include a.lua\nlocal b".utf8)])
        let script = """
            if x then
                --#include b.lua

                if y then
                    --#include a.lua
                end
                --#include a.lua
            else
                --#include a.lua
            end
            --#include a.lua
            """
        let expected = """
            if x then
            local a
            local b

                if y then
                end
            else
            local a
            end
            local a
            """
        #expect(text.expanded(Array(script.utf8)) == expected)
    }
}
