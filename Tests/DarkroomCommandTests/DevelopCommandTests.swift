import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `develop`: one photo from file to file.
@Suite(.serialized) struct DevelopCommandTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    @Test(arguments: [
        ("out.png", [], "png"), ("out.jpeg", [], "jpeg"), ("out", [], "jpeg"),
        ("out", ["--format", "webp"], "webp"), ("out.TIFF", ["--format", "tif"], "tiff"),
        ("out.tmp", ["--format", "png"], "png"),
    ])
    func formatComesFromTheOptionTheExtensionOrThePhoto(_ name: String, _ options: [String], _ format: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let out = "\(folder)/\(name)"
        let arguments = ["develop", "--filter", "sepia", "\(TestFiles.samples)/astronaut.jpg", out, "--json"] + options
        let outcome = try Program(arguments).outcome()
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["format"] as? String == format && facts["width"] as? Int == 512 && facts["height"] as? Int == 512)
        let written = try Data(contentsOf: URL(fileURLWithPath: out))
        #expect(facts["bytes"] as? Int == written.count)
        // The program detects the format from the bytes of the file, and must find the requested format.
        let again = try Program.run("develop", "--filter", "sepia", out, "\(folder)/again", "--json")
        #expect((try again.json() as? [String: Any])?["format"] as? String == format)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["again", name].sorted())
    }

    @Test(arguments: [
        ("out.jpg", [], "encoding format=jpeg; photos that need no change are kept byte for byte"),
        ("out", [], "each photo is kept byte for byte"), ("out.avif", ["--filter", "none"], nil),
        ("out.webp", [], "encoding format=webp; photos that need no change are kept byte for byte"),
        ("out", ["--metadata", "no-gps"], "encoding metadata=no-gps; each photo is encoded again"),
        ("out", ["--srgb"], "encoding srgb=yes; each photo is encoded again"),
        ("out", ["--quality", "70"], "encoding quality=70; photos that need no change are kept byte for byte"),
        ("out.jpg", ["--filter", "sepia"], nil),
    ])
    func photosStayAsTheyAreWithoutAFilter(_ name: String, _ options: [String], _ note: String?) throws {
        let source = "\(TestFiles.samples)/coffee.jpg"
        let outcome = try Program(["develop", source, scratch.path(name)] + options).outcome()
        let noted = note.map { "photos: no filters; \($0)\n" } ?? ""
        #expect(outcome.status == 0 && outcome.standardError == noted, "\(outcome)")
        let isKept = options.isEmpty && name != "out.webp"
        let before = FileManager.default.contents(atPath: source)
        #expect((before == FileManager.default.contents(atPath: scratch.path(name))) == isKept)
    }

    /// If one of the files of a photo exists, none is written.
    @Test(arguments: [[], ["-o"]]) func existingComparisonKeepsThePhotoFromBeingWritten(option: [String]) throws {
        let existing = try scratch.write("moon.compare.png", "earlier")
        let target = option.isEmpty ? scratch.path("moon.png") : folder
        let outcome = try Program(
            ["develop", "--filter", "sepia", TestFiles.samples + "/moon.png", "--compare"] + option + [target]
        ).outcome()
        #expect(outcome.status == (option.isEmpty ? 1 : 3))
        #expect(outcome.standardError.contains("\(existing): it is there already"), "\(outcome)")
        #expect(try scratch.contents("") == ["moon.compare.png"])
    }

    @Test func photoGoesThroughPipes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try Program(
            ["develop", "--filter", "sepia", "-", "-"], input: "\(TestFiles.samples)/astronaut.jpg",
            output: "\(folder)/piped.jpg"
        ).outcome()
        #expect(outcome.status == 0)
        #expect(
            try Program.run("develop", "--filter", "sepia", "\(TestFiles.samples)/astronaut.jpg", "\(folder)/file.jpg")
                .status == 0)
        #expect(
            FileManager.default.contents(atPath: "\(folder)/piped.jpg")
                == FileManager.default.contents(atPath: "\(folder)/file.jpg"))
    }

    @Test func failuresHaveReasons() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photo = "\(TestFiles.samples)/astronaut.jpg"
        for (arguments, message) in [
            (["/no/photo.jpg", "\(folder)/o.jpg"], "read the photo /no/photo.jpg: No such file or directory"),
            ([TestFiles.samples, "\(folder)/o.jpg"], "read the photo \(TestFiles.samples): Is a directory"),
            (["/etc/passwd", "\(folder)/o.jpg"], "develop /etc/passwd: not an image: found text"),
            ([photo, "\(folder)/missing/o.jpg"], "write the photo \(folder)/missing/o.jpg: No such file or directory"),
            (
                [photo, folder],
                "write the photo \(folder): it is a folder; to write photos into it, use -o \(folder)"
            ),
            ([photo, "/dev/full"], "write the photo /dev/full: it is not a regular file; - is standard output"),
            ([photo, "/dev/null", "--force"], "write the photo /dev/null: it is not a regular file"),
            ([photo, "\(folder)/o.jpg", "--max-pixels", "1k"], "develop \(photo): too many pixels: "),
        ] {
            let outcome = try Program(["develop", "--filter", "sepia"] + arguments).outcome()
            #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.hasPrefix("error: \(message)"), "\(outcome.standardError)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func pipesAndDevicesAreReadOnlyAsStandardInput() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pipe = "\(folder)/pipe.jpg"
        #expect(mkfifo(pipe, 0o600) == 0)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "cat '\(TestFiles.samples)/astronaut.jpg' | \"$0\" develop --filter sepia /dev/stdin '\(folder)/o.jpg'",
            Program.executable.path,
        ]
        process.standardError = output
        try process.run()
        let message = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(message == "error: read the photo /dev/stdin: it is not a regular file; - is standard input\n")
        for name in [pipe, "/dev/zero"] {
            let outcome = try Program.run("develop", "--filter", "sepia", name, "\(folder)/o.jpg")
            let found = "it is not a regular file; - is standard input"
            #expect(outcome.status == 1 && outcome.standardError == "error: read the photo \(name): \(found)\n")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["pipe.jpg"])
    }

    @Test func existingFileIsReplacedOnlyWithForceAndKeepsItsMode() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photo = "\(TestFiles.samples)/astronaut.jpg", out = "\(folder)/out.jpg"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: out))
        #expect(chmod(out, 0o640) == 0)
        let refused = try Program.run("develop", "--filter", "sepia", photo, out)
        #expect(refused.status == 1)
        #expect(refused.standardError == "error: write the photo \(out): it is there already; --force replaces it\n")
        #expect(FileManager.default.contents(atPath: out) == Data("mine".utf8))
        #expect(try Program.run("develop", "--filter", "sepia", photo, out, "--force").status == 0)
        #expect(try mode(out) == 0o640 && FileManager.default.contents(atPath: out)?.first == 0xFF)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["out.jpg"])
    }

    @Test func linksAndPipesAreNeitherFollowedNorReplaced() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photo = "\(TestFiles.samples)/astronaut.jpg"
        let mine = "\(folder)/mine.jpg"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: mine))
        #expect(symlink(mine, "\(folder)/link.jpg") == 0 && symlink("\(folder)/new", "\(folder)/dangling.jpg") == 0)
        #expect(link(mine, "\(folder)/other.jpg") == 0 && mkfifo("\(folder)/pipe.jpg", 0o600) == 0)
        for (name, found) in [
            ("link.jpg", "it is a symbolic link; name the file that it leads to"),
            ("dangling.jpg", "it is a symbolic link; name the file that it leads to"),
            ("mine.jpg", "it has 2 names (hard links), other names would keep the old photo; remove it first"),
            ("pipe.jpg", "it is not a regular file; - is standard output"),
        ] {
            let outcome = try Program.run("develop", "--filter", "sepia", photo, "\(folder)/\(name)", "--force")
            #expect(outcome.status == 1)
            #expect(outcome.standardError == "error: write the photo \(folder)/\(name): \(found)\n")
        }
        #expect(FileManager.default.contents(atPath: mine) == Data("mine".utf8))
        let names = ["dangling.jpg", "link.jpg", "mine.jpg", "other.jpg", "pipe.jpg"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
    }

    @Test func writesManyPhotosIntoAFolderDespiteFailures() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photos = ["astronaut.jpg", "moon.png", "chelsea.jpg"].map { "\(TestFiles.samples)/\($0)" }
        let out = "\(folder)/a/b"
        let outcome = try Program(
            ["develop", "--filter", "sepia"] + photos + ["/etc/passwd", photos[0], "-o", out, "--json"]
        ).outcome()
        #expect(outcome.status == 3)
        let facts = try #require(try outcome.json() as? [[String: Any]])
        #expect(
            facts.map { $0["out"] as? String } == ["astronaut.jpg", "moon.png", "chelsea.jpg"].map { "\(out)/\($0)" })
        let problems = outcome.standardError.split(separator: "\n")
        try #require(problems.count == 3)
        #expect(problems[0].hasPrefix("error: develop /etc/passwd: not an image"))
        let taken = "the photo of \(photos[0]) has that name already"
        #expect(problems[1] == "error: write the photo \(out)/astronaut.jpg: \(taken)")
        #expect(problems[2] == "2 of 5 photos failed")

        let again = try Program(["develop", "--filter", "sepia"] + photos + ["-o", out, "--format", "webp"]).outcome()
        #expect(again.status == 0 && again.lines.count == 3)
        let names = ["astronaut.jpg", "astronaut.webp", "chelsea.jpg", "chelsea.webp", "moon.png", "moon.webp"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == names)
        #expect(
            try Program(["develop", "--filter", "sepia"] + photos + ["-o", out]).outcome().status == 3,
            "all files exist already")
    }

    /// Makes a folder of photos: `a.jpg`, `deep/b.png`, a hidden folder, a text, and links.
    private func makePhotos() throws -> String {
        let photos = "\(folder)/photos"
        let files = FileManager.default
        try files.createDirectory(atPath: "\(photos)/deep/.hidden", withIntermediateDirectories: true)
        try files.copyItem(atPath: "\(TestFiles.samples)/flower.jpg", toPath: "\(photos)/a.jpg")
        try files.copyItem(atPath: "\(TestFiles.samples)/moon.png", toPath: "\(photos)/deep/b.png")
        try files.copyItem(atPath: "\(TestFiles.samples)/moon.png", toPath: "\(photos)/deep/.hidden/c.png")
        try Data("text".utf8).write(to: URL(fileURLWithPath: "\(photos)/notes.txt"))
        return photos
    }

    @Test func photosOfAFolderKeepTheirPaths() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photos = try makePhotos()
        #expect(symlink(photos, "\(photos)/deep/loop") == 0 && symlink("../a.jpg", "\(photos)/deep/inside.jpg") == 0)
        let flat = try Program.run("develop", "--filter", "sepia", photos, "-o", "\(folder)/flat")
        #expect(flat.status == 0 && flat.lines.count == 1, "\(flat)")
        let advice = "1 subfolder and 1 file without a picture's ending skipped; --recursive looks into subfolders"
        #expect(flat.standardError == "folder \(photos): \(advice)\n")
        // The output folder is in the folder of photos, and is not read.
        for again in [[], ["--force"]] {
            let out = "\(photos)/out"
            let arguments = [
                "develop", "--filter", "sepia", photos, "\(TestFiles.samples)/astronaut.jpg", "-o", out, "--recursive",
            ]
            let whole = try Program(arguments + ["--format", "webp"] + again).outcome()
            #expect(whole.status == 0, "\(whole)")
            #expect(
                whole.lines.map { String($0.prefix { $0 != ":" }) }
                    == ["a.webp", "deep/b.webp", "deep/inside.webp", "astronaut.webp"].map { "\(out)/\($0)" })
            let written = try FileManager.default.subpathsOfDirectory(atPath: out).sorted()
            #expect(written == ["a.webp", "astronaut.webp", "deep", "deep/b.webp", "deep/inside.webp"])
        }
    }

    @Test func linksOutOfAFolderAreNotFollowed() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photos = try makePhotos()
        #expect(symlink("\(TestFiles.samples)/coffee.jpg", "\(photos)/link.jpg") == 0)
        let out = "\(folder)/out", elsewhere = "\(folder)/elsewhere"
        for path in [out, elsewhere, "\(folder)/empty"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        #expect(symlink(elsewhere, "\(out)/deep") == 0)
        let outcome = try Program.run(
            "develop", "--filter", "sepia", photos, "\(folder)/empty", "-o", out, "--recursive")
        #expect(outcome.status == 3 && outcome.lines.count == 1)
        let problems = outcome.standardError.split(separator: "\n").filter { !$0.hasPrefix("folder") }
        try #require(problems.count == 4)
        #expect(
            problems.prefix(2) == [
                "error: make the folder \(out)/deep: there is a symbolic link, which is not followed",
                "error: read the photo \(photos)/link.jpg: it is a link that leads out of the folder \(photos)",
            ])
        #expect(problems[2].hasPrefix("error: read the folder \(folder)/empty: there are 0 photos in this folder"))
        #expect(problems[3] == "3 of 4 photos failed")
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == ["a.jpg", "deep"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
    }

    @Test(arguments: [1, 7]) func reportsAreInTheOrderOfTheArguments(_ jobs: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let samples = ["hubble_deep_field", "flower", "astronaut", "chelsea"].map { "\(TestFiles.samples)/\($0).jpg" }
        var photos: [String] = []
        for (number, sample) in (samples + samples + samples).enumerated() {
            photos.append("\(folder)/\(number).jpg")
            try FileManager.default.copyItem(atPath: sample, toPath: photos[number])
        }
        photos.insert("/no/photo.jpg", at: 5)
        let options = ["-o", "\(folder)/out", "--jobs", "\(jobs)", "--json"]
        let outcome = try Program(["develop", "--filter", "sepia"] + photos + options).outcome()
        let facts = try #require(try outcome.json() as? [[String: Any]], "\(outcome)")
        #expect(facts.map { $0["in"] as? String } == photos.filter { $0 != "/no/photo.jpg" })
        #expect(outcome.status == 3 && outcome.standardError.contains("error: read the photo /no/photo.jpg: "))
    }

    @Test(arguments: [["--jobs", "2"], ["--recursive"], ["--jobs", "0", "-o", "out"]])
    func jobsAndFoldersNeedAnOutputFolder(_ options: [String]) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try Program(["develop", "--filter", "sepia", "a.jpg", "b.jpg"] + options).outcome()
        #expect(outcome.status == 2 && outcome.standardError.contains("error: \(options[0])"), "\(outcome)")
    }

    @Test func escapesControlCharactersInNames() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photo = "\(TestFiles.samples)/astronaut.jpg"
        let written = try Program.run("develop", "--filter", "sepia", photo, "\(folder)/a\u{1b}[31m\u{202e}.jpg")
        #expect(written.status == 0)
        #expect(written.standardOutput.hasPrefix(#"\#(folder)/a\u{1b}[31m\u{202e}.jpg: jpeg, "#), "\(written)")
        let missing = try Program.run("develop", "--filter", "sepia", "b\u{9b}2J.jpg", "-o", folder)
        #expect(missing.status == 3)
        #expect(missing.standardError.hasPrefix(#"error: read the photo b\u{9b}2J.jpg: "#), "\(missing)")
    }

    private func mode(_ path: String) throws -> mode_t {
        var found = stat()
        try #require(lstat(path, &found) == 0)
        return found.st_mode & 0o7777
    }
}
