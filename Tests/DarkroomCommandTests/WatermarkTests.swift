import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// Watermarks with the picture of a file, with the real program.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct WatermarkTests {
    private static let samples = TestFiles.samples
    private static let relative = ["--filter", "watermark=image:pictures/logo.png", "--format", "png"]

    let queue: Queue
    let scratch: ScratchFolder
    private let list: String

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
        try scratch.makeFolder("pictures")
        try FileManager.default.copyItem(atPath: Self.samples + "/moon.png", toPath: scratch.path("pictures/logo.png"))
        try scratch.makeFolder("lists")
        list = try scratch.write("lists/list.txt", "file://\(Self.samples)/flower.jpg\n")
    }

    /// Runs the program in the folder of the test.
    private func program(_ arguments: [String]) throws -> Program.Outcome {
        try Program(
            arguments, environment: queue.environment.merging(["XDG_RUNTIME_DIR": scratch.path]) { own, _ in own },
            at: scratch.path
        ).outcome()
    }

    private func bytes(_ name: String) throws -> Data {
        try #require(FileManager.default.contents(atPath: scratch.path(name)), "\(name) is missing")
    }

    /// The picture is in no folder of `--files-under`.
    @Test(arguments: [[], ["--isolate"]]) func runPutsThePictureOnThePhoto(isolation: [String]) throws {
        let run = try program(
            ["run", list, "-o", scratch.path("out"), "--files-under", Self.samples] + Self.relative + isolation)
        #expect(run.status == 0, "\(run)")
        let photo = Self.samples + "/flower.jpg"
        #expect(try program(["develop", photo, scratch.path("own.png")] + Self.relative).status == 0)
        #expect(try program(["develop", photo, scratch.path("plain.png"), "--filter", "none"]).status == 0)
        let (made, own, plain) = try (bytes("out/000000-flower.png"), bytes("own.png"), bytes("plain.png"))
        #expect(made == own && made != plain)
    }

    /// The path of the picture's folder contains a link. `run` trusts this folder, so the link is followed. It is also
    /// in the folder of the list, where links are not followed.
    @Test func runFollowsALinkInTheFolderOfThePicture() throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("lists/brand"), withDestinationPath: scratch.path("pictures"))
        let run = try program(
            ["run", list, "-o", scratch.path("out"), "--files-under", Self.samples, "--filter"]
                + ["watermark=image:lists/brand/logo.png"])
        #expect(run.status == 0, "\(run)")
    }

    @Test func pictureMayBeInTheRootFolder() {
        #expect(ImageOptions.folder(of: "/logo.png") == "/")
        #expect(ImageOptions.folder(of: "/pictures/logo.png") == "/pictures")
    }

    @Test func submitStoresTheAbsolutePath() throws {
        let submitted = try program(
            ["submit", list, "-o", scratch.path("out"), "--namespace", queue.namespace] + Self.relative)
        #expect(submitted.status == 0, "\(submitted)")
        let status = try queue.run("status", submitted.lines[0], "--json").json() as? [String: Any]
        #expect(status?["filters"] as? [String] == ["watermark=image:\(scratch.path("pictures/logo.png"))"])
    }

    @Test(arguments: ["missing", "text", "folder", "large"]) func unusablePictureIsRefused(kind: String) throws {
        let path = scratch.path(kind)
        switch kind {
        case "text": try scratch.write(kind, "not a picture")
        case "folder": try scratch.makeFolder(kind)
        case "large": try scratch.write(kind, [UInt8](repeating: 0, count: 4 << 20 + 1))
        default: break
        }
        let watermark = "watermark=image:\(path)"
        for command in [
            ["submit", list, "-o", scratch.path("out"), "--namespace", queue.namespace],
            ["run", list, "-o", scratch.path("out")], ["run", list, "-o", scratch.path("out"), "--dry-run"],
            ["develop", Self.samples + "/flower.jpg", scratch.path("out")],
        ] {
            let outcome = try program(command + ["--filter", watermark])
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.standardError.contains("--filter: the watermark \(path) can"), "\(outcome)")
            #expect(!scratch.exists("out"))
        }
        let renditions = ["--rendition", "a = none", "--rendition", "b = \(watermark)"]
        let outcome = try program(["run", list, "-o", scratch.path("out")] + renditions)
        #expect(outcome.standardError.contains("error: rendition b: the watermark \(path) can"), "\(outcome)")
    }

    @Test func workerReadsPicturesOnlyBelowFilesUnder() throws {
        let id = try queue.submit(["file://\(Self.samples)/flower.jpg"]) { options in
            options.filters = [PhotoFilter("watermark=image:\(scratch.path("pictures/logo.png"))")]
        }
        let refusing = try queue.start("worker", "--files-under", Self.samples)
        try refusing.waitFor("logo.png is not in a folder whose files this worker may read")
        let worker = try queue.start("worker", "--files-under", Self.samples, "--files-under", scratch.path)
        #expect(try queue.run("wait", "\(id)", "--timeout", "50s").status == 0)
        for worker in [refusing, worker] {
            worker.send(SIGTERM)
            #expect(try worker.outcome().status == 0)
        }
    }
}
