import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `--on-damaged accept` and `--animation keep`, from the options of the command to the worker and its helpers.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct DamageOptionTests {
    /// An animation of 1 x 1 pixel with two frames.
    private static let animation: [UInt8] = {
        let header: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let repetition: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        return [header, repetition, frame(code: 0x44), frame(code: 0x4C), [0x3B]].flatMap { $0 }
    }()

    private static func frame(code: UInt8) -> [UInt8] {
        [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, code, 1, 0]
    }

    @Test(arguments: [[], ["--isolate"]]) func optionsReachTheWorker(isolation: [String]) throws {
        let (queue, scratch) = (try Queue(), try ScratchFolder())
        let cut = try scratch.write("cut.jpg", Array(RunCommandTests.photo.dropLast(RunCommandTests.photo.count / 2)))
        let animated = try scratch.write("animated.gif", Self.animation)
        let list = try scratch.write("list.txt", "file://\(cut)\nfile://\(animated)\n")
        let worker = try Program(
            ["worker", "--namespace", queue.namespace, "--files-under", scratch.path] + isolation,
            environment: queue.environment)
        for (name, options, isAccepted) in [
            ("plain", [], false), ("accepted", ["--on-damaged", "accept", "--animation", "keep"], true),
        ] {
            let submitted = try Program(
                ["submit", list, "-o", scratch.path(name), "--format", "webp", "--namespace", queue.namespace]
                    + options, environment: queue.environment
            ).outcome()
            let id = try #require(submitted.lines.first, "\(submitted)")
            #expect(try queue.run("wait", id).status == (isAccepted ? 0 : 3))
            let facts = try #require(try queue.run("status", id, "--json").json() as? [String: Any])
            #expect(facts["acceptsDamage"] as? Bool == isAccepted && facts["keepsAnimations"] as? Bool == isAccepted)
            #expect(facts["failures"] as? [String: Int] == (isAccepted ? [:] : ["damaged": 1]))
            let made = try #require(FileManager.default.contents(atPath: scratch.path("\(name)/000001-animated.webp")))
            #expect((made.range(of: Data("ANMF".utf8)) != nil) == isAccepted)
            #expect(scratch.exists("\(name)/000000-cut.webp") == isAccepted)
        }
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    /// The default: a photo that has all its pixels is developed, and the manifest names its defect.
    @Test(arguments: [[], ["--isolate"]]) func toleratedDefectIsInTheManifest(isolation: [String]) throws {
        let (queue, scratch) = (try Queue(), try ScratchFolder())
        let photo = try scratch.write("photo.jpg", Array(RunCommandTests.photo.dropLast(2)))
        let list = try scratch.write("list.txt", "file://\(photo)\n")
        let worker = try Program(
            ["worker", "--namespace", queue.namespace, "--files-under", scratch.path] + isolation,
            environment: queue.environment)
        for (name, options, isTolerated) in [
            ("strips", [], true), ("kept", ["--filter", "none"], true), ("libvips", ["--format", "webp"], true),
            ("renditions", ["--rendition", "a = none", "--rendition", "b = resize=20x"], true),
            ("strict", ["--on-damaged", "fail"], false),
        ] {
            let submitted = try Program(
                ["submit", list, "-o", scratch.path(name), "--namespace", queue.namespace] + options,
                environment: queue.environment
            ).outcome()
            let id = try #require(submitted.lines.first, "\(submitted)")
            #expect(try queue.run("wait", id).status == (isTolerated ? 0 : 3), "\(name)")
            let facts = try #require(try queue.run("status", id, "--json").json() as? [String: Any])
            #expect(facts["onDamaged"] as? String == (isTolerated ? "tolerate" : "fail"))
            let files = try #require(FileManager.default.enumerator(atPath: scratch.path("\(name)/manifest/\(id)")))
            let lines = files.compactMap { $0 as? String }.filter { $0.hasSuffix(".jsonl") }.map {
                FileManager.default.contents(atPath: scratch.path("\(name)/manifest/\(id)/\($0)")) ?? Data()
            }
            let line = try #require(
                try JSONSerialization.jsonObject(with: lines.first ?? Data()) as? [String: Any], "\(name)")
            #expect((line["note"] as? String)?.contains("end marker is missing") == (isTolerated ? true : nil))
            #expect(line["reason"] as? String == (isTolerated ? nil : "damaged"))
        }
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }
}
