import Darkroom
import DarkroomCoding
import DarkroomCoordinator
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// Batches with several renditions, with the real program, HTTP servers and photos.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct RenditionTests {
    private static let samples = TestFiles.samples
    // Not written in the arguments of `@Test`, because Swift 6.0 cannot compile a closure there.
    private static let tooMany = (0...64).map { "r\($0) = none\n" }.joined()
    private static let two = ["--rendition", "small = resize=100; format=webp", "--rendition", "grey = grayscale"]

    let queue: Queue
    let scratch: ScratchFolder
    private var out: String { scratch.path("out") }

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
        try scratch.makeFolder("run")
    }

    private func start(_ arguments: [String]) throws -> Program {
        try Program(["run"] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path("run")])
    }

    private func run(_ list: String, _ more: [String]) throws -> Program.Outcome {
        try start([list, "-o", out, "--allow-private"] + more).outcome()
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try #require(FileManager.default.contents(atPath: path), "\(path) is missing"))
    }

    /// Serves `count` photos, and writes their list. The server delays the photos from index `held` on.
    private func serve(_ count: Int, heldFrom held: Int = .max) throws -> (server: HostileServer, list: String) {
        var routes: [String: HostileServer.Route] = [:]
        for index in 0..<count {
            let route = HostileServer.Route.answer(body: RunCommandTests.photo)
            routes["/\(index).jpg"] = index < held ? route : .held(route)
        }
        let server = try HostileServer(routes)
        return (server, try scratch.write("list.txt", (0..<count).map { server.url("/\($0).jpg\n") }.joined()))
    }

    /// Checks that the manifest has exactly the renditions of each filtered photo, that each file agrees with the
    /// manifest, and that there is no other file.
    @discardableResult private func check(photos: Int, _ names: [String]) async throws -> [ManifestEntry] {
        var entries: [ManifestEntry] = []
        for try await entry in PhotoManifest(output: out).entries() { entries.append(entry) }
        #expect(entries.map(\.record.index) == Array(0..<photos))
        var paths: Set<String> = []
        for entry in entries where entry.state == .filtered {
            #expect(entry.files.map(\.rendition) == names)
            for file in entry.files {
                let bytes = try Self.bytes("\(out)/\(file.path)")
                #expect(file.path.hasPrefix(file.rendition + "/") && paths.insert(file.path).inserted)
                #expect(file.bytes == bytes.count && file.sha256 == Hexadecimal.text(SHA256Digest.hash(of: bytes)))
            }
        }
        #expect(try found() == paths)
        return entries
    }

    /// The files in the output folder that do not belong to the manifest or to the run.
    private func found() throws -> Set<String> {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: out).filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(out)/\(path)", isDirectory: &isFolder)
            return !isFolder.boolValue && !path.hasPrefix("manifest/") && !path.hasPrefix(".darkroom/")
        }
        return Set(paths)
    }

    @Test func treatmentOfThePhotosIsNoted() throws {
        let list = try scratch.write("list.txt", "file://\(Self.samples)/flower.jpg\n")
        for (options, note) in [
            ([], "photos: no filters; each photo is kept byte for byte\n"),
            (
                ["--format", "webp"],
                "photos: no filters; encoding format=webp; photos that need no change are kept byte for byte\n"
            ),
            (["--format", "webp", "--filter", "sepia"], "photos: filters sepia=0.8; encoding format=webp\n"),
            (["--quality", "70"] + Self.two, "photos: 2 files of each: small, grey\n"),
        ] {
            for command in [["run"], ["submit", "--redis", "redis://127.0.0.1:1"]] {
                let outcome = try Program(command + [list, "-o", out, "--dry-run"] + options).outcome()
                #expect(outcome.status == 0 && outcome.standardError.contains(note), "\(outcome)")
            }
        }
    }

    @Test func makesAllFilesOfOneDownload() async throws {
        let (server, list) = try serve(5)
        defer { server.stop() }
        let outcome = try run(list, Self.two + ["--rendition", "same = none"])
        #expect(outcome.status == 0 && outcome.standardOutput.contains("5 photos: 5 filtered"), "\(outcome)")
        #expect(server.log.requests.values.allSatisfy { $0 == 1 } && server.log.requests.count == 5)
        let entries = try await check(photos: 5, ["small", "grey", "same"])
        #expect(entries[3].files.map(\.path) == ["small/000003-3.webp", "grey/000003-3.jpg", "same/000003-3.jpg"])
        #expect(entries[3].files.map(\.width) == [100, 640, 640] && entries[3].files[0].height == 67)
        #expect(try Self.bytes("\(out)/same/000003-3.jpg") == RunCommandTests.photo)
        let developed = try Program(
            ["develop", Self.samples + "/flower.jpg", "-o", scratch.path("developed")] + Self.two
        ).outcome()
        #expect(developed.status == 0)
        for (file, same) in [("small/000003-3.webp", "small/flower.webp"), ("grey/000003-3.jpg", "grey/flower.jpg")] {
            #expect(try Self.bytes("\(out)/\(file)") == Self.bytes(scratch.path("developed/\(same)")))
        }

        let table = try Program.run("manifest", out).lines
        #expect(table.count == 15 && table[1].contains("\t0\tfiltered\t\t0.jpg\tgrey/000000-0.jpg\t640\t427\t"))
        let csv = try Program.run("manifest", out, "--csv").lines
        #expect(csv.count == 16 && csv[1].hasSuffix(",small,") && csv[3].hasSuffix(",same,"))
        let json = try #require(try Program.run("manifest", out, "--json").json() as? [[String: Any]])
        let files = try #require(json[0]["renditions"] as? [[String: Any]])
        #expect(files.map { $0["rendition"] as? String } == ["small", "grey", "same"])
        #expect(files.map { $0["filters"] as? String } == ["resize=100x", "grayscale=1", "none"])
        #expect(json[0]["file"] == nil && json[0]["width"] == nil)
    }

    @Test func recipeIsKeptWithTheBatch() async throws {
        let (server, list) = try serve(3)
        defer { server.stop() }
        let recipe = try scratch.write(
            "photos.recipe", "\u{feff}# Sizes\r\nsmall = resize=100;\\\n format=webp\n\ngrey=grayscale\n")
        let id = try queue.run("submit", list, "-o", out, "--recipe", recipe, "--quality", "70").lines[0]
        try FileManager.default.removeItem(atPath: recipe)
        let worker = try queue.start("worker", "--allow-private")
        #expect(try queue.run("wait", id).status == 0)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        try await check(photos: 3, ["small", "grey"])
        let canonical = ["small = resize=100x; format=webp", "grey = grayscale=1"]
        let status = try queue.run("status", id)
        for line in canonical { #expect(status.standardOutput.contains(line), "\(status)") }
        #expect(status.standardOutput.contains("quality=70"))
        let json = try #require(try queue.run("status", id, "--json").json() as? [String: Any])
        #expect(json["renditions"] as? [String] == canonical && json["encoding"] as? String == "quality=70")
        #expect(json["filters"] as? [String] == [])
        #expect(try queue.run("watch", id).status == 0)
        let photos = try #require(try queue.run("photos", id, "--json").json() as? [[String: Any]])
        #expect(photos[2]["files"] as? [String] == ["small/000002-2.webp", "grey/000002-2.jpg"])
        #expect(try queue.run("photos", id).lines[2].contains("\tsmall/000002-2.webp, grey/000002-2.jpg\t"))
    }

    /// The 10,001st photo is in a subfolder. The other entries have no URL.
    @Test func manyPhotosHaveSubfoldersInEachRendition() throws {
        let list = try scratch.write(
            "list.csv",
            "url\n" + String(repeating: "NO URL\n", count: 10_000) + "file://\(scratch.path("flower.jpg"))\n")
        try scratch.write("flower.jpg", RunCommandTests.photo)
        let options = Self.two + ["--files-under", scratch.path]
        let outcome = try run(list, options)
        #expect(outcome.status == 3 && outcome.standardOutput.contains("1 filtered, 10,000 failed"), "\(outcome)")
        #expect(try found() == ["small/00001/010000-flower.webp", "grey/00001/010000-flower.jpg"])
    }

    @Test func continuesAfterAnInterrupt() async throws {
        let (server, list) = try serve(30, heldFrom: 25)
        defer { server.stop() }
        let first = try start([list, "-o", out, "--allow-private", "--grace", "1s"] + Self.two)
        #expect(await server.wait { $0.requests.count == 30 })
        try waitUntil("the served photos are filtered") {
            try scratch.exists("out/grey") && scratch.contents("out/grey").count >= 25
        }
        first.send(SIGINT)
        #expect(try first.outcome().status == 130)
        server.release()
        let second = try run(list, Self.two)
        #expect(second.status == 0 && second.standardOutput.contains("30 photos: 30 filtered"), "\(second)")
        for index in 0..<25 { #expect(server.log.requests["/\(index).jpg"] == 1, "photo \(index)") }
        try await check(photos: 30, ["small", "grey"])

        let other = try run(list, ["--rendition", "small = resize=100; format=webp"])
        #expect(
            other.standardError.contains(
                "the renditions then small = resize=100x; format=webp, grey = grayscale=1, now small = resize=100x; "
                    + "format=webp"), "\(other)")
    }

    @Test func againListsTheFilesOfARenditionThatIsGone() throws {
        let (server, list) = try serve(4)
        defer { server.stop() }
        #expect(try run(list, Self.two).status == 0)
        let again = try run(list, ["--rendition", "small = resize=50; format=webp", "--again"])
        #expect(again.status == 0 && again.standardError.contains("4 files of the earlier batch"), "\(again)")
        let left = String(decoding: try Self.bytes("\(out)/.darkroom/left-over.txt"), as: UTF8.self)
        #expect(left.split(separator: "\n").map(String.init) == (0..<4).map { "grey/00000\($0)-\($0).jpg" })
        // The files of --again replace the files of the first batch.
        let developed = try Program.run("develop", out + "/small/000001-1.webp", scratch.path("x.png"), "--json")
        #expect((try developed.json() as? [String: Any])?["width"] as? Int == 50)
    }

    /// The originals are kept once, and the next batch makes other renditions without downloads.
    @Test func originalsServeFurtherRenditions() throws {
        let (server, list) = try serve(4)
        defer { server.stop() }
        let originals = ["--originals", scratch.path("originals")]
        #expect(try run(list, Self.two + originals).status == 0)
        let more = try run(list, ["--rendition", "blurred = blur=3", "--again"] + originals)
        #expect(more.status == 0, "\(more)")
        #expect(server.log.requests.values.allSatisfy { $0 == 1 })
        #expect(try scratch.contents("out/blurred").count == 4)
    }

    /// A crop outside of the photo fails the photo: the other renditions are not written.
    @Test(arguments: [[], ["--isolate"]]) func failedRenditionFailsThePhoto(isolation: [String]) async throws {
        let list = try scratch.write(
            "list.txt", "file://\(Self.samples)/china.jpg\nfile://\(Self.samples)/moon.png\n")
        let renditions = ["--rendition", "whole = sepia", "--rendition", "part = crop=600x400+30+20"]
        let options = renditions + isolation + ["--files-under", Self.samples]
        let outcome = try run(list, options)
        #expect(outcome.status == 3 && outcome.standardOutput.contains("2 photos: 1 filtered, 1 failed"), "\(outcome)")
        let entries = try await check(photos: 2, ["whole", "part"])
        #expect(entries[1].state == .failed(.filterFailed) && entries[1].files.isEmpty)
        #expect(entries[1].detail?.hasPrefix("rendition part: crop=600x400+30+20: ") == true)
    }

    @Test func retryMakesAllFilesOfAPhoto() async throws {
        let photo = RunCommandTests.photo
        let server = try HostileServer(["/0.jpg": .inTurn([.answer(status: 404), .answer(body: photo)])])
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("/0.jpg\n"))
        let id = try queue.run("submit", list, "-o", out, Self.two[0], Self.two[1], Self.two[2], Self.two[3]).lines[0]
        let worker = try queue.start("worker", "--allow-private")
        #expect(try queue.run("wait", id).status == 3)
        #expect(try await check(photos: 1, [])[0].state == .failed(.httpClientError))
        #expect(try queue.run("retry", id).status == 0)
        #expect(try queue.run("wait", id).status == 0)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        try await check(photos: 1, ["small", "grey"])
    }

    /// Another batch takes the folder, and a retry takes it back.
    @Test func overwriteReplacesTheFilesOfAllRenditions() throws {
        let photo = RunCommandTests.photo
        let server = try HostileServer([
            "/0.jpg": .answer(body: photo), "/1.jpg": .inTurn([.answer(status: 404), .answer(body: photo)]),
        ])
        defer { server.stop() }
        let both = try scratch.write("both.txt", server.url("/0.jpg\n") + server.url("/1.jpg\n"))
        let one = try scratch.write("one.txt", server.url("/0.jpg\n"))
        func submit(_ list: String, _ renditions: [String]) throws -> Program.Outcome {
            try Program(
                ["submit", list, "-o", out, "--namespace", queue.namespace] + renditions, environment: queue.environment
            ).outcome()
        }
        func width(_ file: String) throws -> Int? {
            let copy = scratch.path("copy.png")
            let facts = try Program.run("develop", "\(out)/\(file)", copy, "--force", "--json").json()
            return (facts as? [String: Any])?["width"] as? Int
        }
        let worker = try queue.start("worker", "--allow-private")
        let first = try submit(both, Self.two).lines[0]
        #expect(try queue.run("wait", first).status == 3)
        #expect(try width("small/000000-0.webp") == 100)

        let small = ["--rendition", "small = resize=50; format=webp"]
        #expect(try submit(one, small).status == 1)
        let second = try submit(one, small + ["--overwrite"]).lines[0]
        #expect(try queue.run("wait", second).status == 0)
        #expect(try width("small/000000-0.webp") == 50)

        #expect(try queue.run("retry", first).status == 1)
        #expect(try queue.run("retry", first, "--overwrite").status == 0)
        #expect(try queue.run("wait", first).status == 0)
        #expect(try width("small/000001-1.webp") == 100 && width("grey/000001-1.jpg") == 640)
        #expect(try width("small/000000-0.webp") == 50, "a retry runs only the failed photos")
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    @Test func resumedBatchMakesAllFilesOfTheNewPhotos() async throws {
        let (server, list) = try serve(4)
        defer { server.stop() }
        let whole = String(decoding: try Self.bytes(list), as: UTF8.self)
        try scratch.write("list.txt", whole.split(separator: "\n").prefix(2).joined(separator: "\n") + "\n")
        let id = try queue.run("submit", list, "-o", out, Self.two[0], Self.two[1], Self.two[2], Self.two[3]).lines[0]
        let worker = try queue.start("worker", "--allow-private")
        #expect(try queue.run("wait", id).status == 0)
        try await check(photos: 2, ["small", "grey"])
        try scratch.write("list.txt", whole)
        #expect(try queue.run("submit", list, "--resume", id).status == 0)
        #expect(try queue.run("wait", id).status == 0)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        try await check(photos: 4, ["small", "grey"])
    }

    /// The files that a helper returns for a photo may have 64 MiB plus 12 bytes for each pixel of `--max-pixels`. The 64
    /// files of this photo have more.
    @Test func filesOfAPhotoTogetherHaveALimitInHelpers() async throws {
        let list = try scratch.write("list.txt", "file://\(Self.samples)/hubble_deep_field.jpg\n")
        func recipe(_ count: Int) throws -> String {
            try scratch.write("recipe", (0..<count).map { "r\($0) = none; format=tiff\n" }.joined())
        }
        let options = ["--isolate", "--max-pixels", "900k", "--files-under", Self.samples, "--again"]
        let many = try run(list, ["--recipe", recipe(64)] + options)
        #expect(many.status == 3, "\(many)")
        #expect(try await check(photos: 1, [])[0].detail?.contains("more than the limit of") == true)
        #expect(try run(list, ["--recipe", recipe(10)] + options).status == 0)
    }

    /// A photo whose folder became a link while the batch ran fails, and nothing is written through the link.
    @Test func plantedLinkIsNotFollowed() async throws {
        let (server, list) = try serve(2, heldFrom: 0)
        defer { server.stop() }
        let program = try start([list, "-o", out, "--allow-private"] + Self.two)
        #expect(await server.wait { $0.requests.count == 2 })
        try scratch.makeFolder("victim")
        #expect(symlink(scratch.path("victim"), out + "/grey") == 0)
        server.release()
        let outcome = try program.outcome()
        #expect(outcome.status == 3 && outcome.standardOutput.contains("output-denied"), "\(outcome)")
        #expect(try scratch.contents("victim") == [] && scratch.contents("out/small") == [])
    }

    // MARK: - Bad input

    @Test func noneExcludesOtherFilters() throws {
        let outcome = try run(Self.samples, ["--filter", "none", "--filter", "sepia"])
        #expect(outcome.status == 2 && outcome.standardError.contains("none stands alone"), "\(outcome)")
    }

    @Test(arguments: [
        ("../x = none", "a name is 1 to 64 letters"), ("x/y = none", "a name is 1 to 64 letters"),
        (".x = none", "a name is 1 to 64 letters"), ("Manifest = none", "the name manifest belongs to Darkroom"),
        ("a = none\nA = sepia", "line 2, character 1: the name differs from a only by case"),
        ("a = none\na = sepia", "line 2, character 1: the rendition a is given twice"),
        (tooMany, "line 65, character 1: more than 64 renditions"),
        ("# nothing\n", "no rendition"), ("a = sepai", "sepia"), ("a = none; format=bmp", "format \"bmp\""),
        (String(repeating: "#", count: 65_537), "it has more than 65,536 bytes"),
    ]) func badRecipeIsAnErrorBeforeAnythingIsStored(text: String, message: String) throws {
        let recipe = try scratch.write("recipe", text)
        let outcome = try run(Self.samples, ["--recipe", recipe])
        #expect(outcome.status == 2 && outcome.standardError.contains(message), "\(outcome)")
        #expect(outcome.standardError.components(separatedBy: "error: ").count == 2, "\(outcome)")
        #expect(!scratch.exists("out"))
    }

    @Test func recipeMustBeASmallRegularTextFile() throws {
        #expect(mkfifo(scratch.path("pipe"), 0o600) == 0)
        try scratch.write("binary", [0xff, 0xfe, 0x00])
        try scratch.write("large", "")
        #expect(truncate(scratch.path("large"), 1 << 30) == 0)
        for (name, message) in [
            ("missing", "No such file or directory"), ("", "it is not a regular file"),
            ("pipe", "it is not a regular file"), ("binary", "it is not UTF-8 text"),
            ("large", "it has more than 65,536 bytes"),
        ] {
            let path = scratch.path(name)
            let outcome = try run(Self.samples, ["--recipe", path])
            #expect(
                outcome.status == 2 && outcome.standardError.contains("--recipe \"\(path)\": \(message)"), "\(outcome)")
        }
        #expect(symlink("recipe", scratch.path("link")) == 0)
        try scratch.write("recipe", "a = none\n")
        #expect(try run(Self.samples, ["--recipe", scratch.path("link"), "--dry-run"]).status == 0)
        #expect(!scratch.exists("out"))
    }

    @Test func recipeIsReadOnce() throws {
        let recipe = try scratch.write("recipe", "a = none\n")
        let arguments = ["run", "l", "-o", "d", "--recipe", recipe]
        let command = try #require(try DarkroomProgram.parseAsRoot(arguments) as? RunCommand)
        try scratch.write("recipe", "b = flip\n")
        let names = try command.image.renditions().map(\.name)
        #expect(names == ["a"])
    }

    @Test(arguments: [
        (["--rendition", "b = none"], "--recipe: the renditions are in the file; leave --rendition out"),
        (["--filter", "flip"], "--filter: each rendition has filters of its own; write the filter there"),
    ])
    func recipeExcludesOtherFilters(_ options: [String], _ message: String) throws {
        let recipe = try scratch.write("recipe", "a = none\n")
        let outcome = try run(Self.samples, ["--recipe", recipe] + options)
        #expect(outcome.status == 2 && outcome.standardError.contains("error: \(message)"), "\(outcome)")
    }

    @Test func fileInPlaceOfTheFolderOfARenditionIsRefused() throws {
        for plant in [{ try scratch.write("out/grey", "") }, { try scratch.write("out/small", "") }] {
            try scratch.makeFolder("out")
            let file = try plant()
            for dry in [["--dry-run"], []] {
                let outcome = try run(Self.samples, Self.two + dry)
                #expect(outcome.status == 1 && outcome.standardError.contains("is not a folder"), "\(outcome)")
            }
            #expect(try found() == [String(file.dropFirst(out.count + 1))])
            try FileManager.default.removeItem(atPath: out)
        }
    }

    @Test func dryRunShowsTheFilesOfAllRenditions() throws {
        let (server, list) = try serve(5)
        defer { server.stop() }
        let lines = try run(list, Self.two + ["--dry-run"]).lines
        #expect(
            lines.filter { $0.hasPrefix("file\t") }.map { $0.dropFirst(5) } == [
                "small/000000-0.webp", "grey/000000-0.*", "small/000001-1.webp", "grey/000001-1.*",
                "small/000002-2.webp", "grey/000002-2.*", "small/000003-3.webp", "grey/000003-3.*",
                "small/000004-4.webp", "grey/000004-4.*",
            ])
        #expect(lines.contains("renditions\tsmall = resize=100x; format=webp"), "\(lines)")
        #expect(server.log.requests.isEmpty && !scratch.exists("out"))
    }

    // MARK: - Without Redis

    @Test func developWritesTheFolderOfEachRendition() throws {
        let photos = ["flower.jpg", "moon.png"].map { "\(Self.samples)/\($0)" }
        let outcome = try Program(["develop"] + photos + ["-o", out, "--json"] + Self.two).outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try found() == ["small/flower.webp", "grey/flower.jpg", "small/moon.webp", "grey/moon.png"])
        let facts = try #require(try outcome.json() as? [[String: Any]])
        #expect(facts.map { $0["width"] as? Int } == [100, 640, 100, 512])
    }

    @Test func developComparesBeforeAndAfter() throws {
        let outcome = try Program(
            ["develop", Self.samples + "/flower.jpg", "-o", out, "--compare"] + Self.two
        ).outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(
            try found() == [
                "small/flower.webp", "small/flower.compare.webp", "grey/flower.jpg", "grey/flower.compare.jpg",
            ])
        let one = try Program.run(
            "develop", Self.samples + "/moon.png", scratch.path("moon.webp"), "--compare", "--filter", "none")
        #expect(one.status == 0 && scratch.exists("moon.compare.webp"), "\(one)")
        let piped = try Program.run("develop", Self.samples + "/moon.png", "-", "--compare")
        #expect(piped.status == 2 && piped.standardError.contains("--compare: standard output has the photo"))
    }
}
