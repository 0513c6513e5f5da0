import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `manifest`, on output folders of a queue.
@Suite(.redisServer, .serialized)
struct ManifestCommandTests {
    @Test func printsTheManifestOfAFolder() throws {
        let queue = try Queue()
        let id = try queue.submit(["http://h/0", "NO, \"URL\"\n", "http://h/2"]) { $0.operationSize = 2 }
        try queue.develop("FaF")
        let plain = try Program.run("manifest", queue.folder)
        #expect(plain.status == 0)
        #expect(
            plain.lines == [
                "\(id)\t0\tfiltered\t\tphoto 0\tphoto 0.jpg\t\t\t\thttp://h/0\t",
                "\(id)\t1\tfailed\tnot-a-url\tphoto 1\t\t\t\t\tNO, \"URL\"\\n\tfound nothing",
                "\(id)\t2\tfiltered\t\tphoto 2\tphoto 2.jpg\t\t\t\thttp://h/2\t",
            ])
        let csv = try Program.run("manifest", queue.folder, "--csv").standardOutput
        #expect(
            csv == """
                batch,index,name,url,state,file,reason,detail,attempts,width,height,bytes,sha256,downloadMilliseconds,\
                filterMilliseconds,writeMilliseconds,rendition,note
                \(id),0,photo 0,http://h/0,filtered,photo 0.jpg,,,,,,,,,,,,
                \(id),1,photo 1,"NO, ""URL""
                ",failed,,not-a-url,found nothing,,,,,,,,,,
                \(id),2,photo 2,http://h/2,filtered,photo 2.jpg,,,,,,,,,,,,

                """)
        let json = try #require(try Program.run("manifest", queue.folder, "--json").json() as? [[String: Any]])
        #expect(json.map { $0["index"] as? Int } == [0, 1, 2])
        #expect(json[1]["url"] as? String == "NO, \"URL\"\n" && json[1]["reason"] as? String == "not-a-url")
    }

    @Test func escapesControlCharactersOnATerminal() throws {
        let queue = try Queue()
        try queue.submit(["NO URL\u{1b}[31m\u{9b}2J\u{202e}"])
        try queue.develop("a")
        for format in [[], ["--csv"], ["--json"]] {
            let terminal = try PseudoTerminal(
                Program.executable, ["manifest", queue.folder] + format, environment: queue.environment)
            #expect(try terminal.status() == 0)
            let shown = terminal.text
            // The table has no URL column.
            if !format.isEmpty { #expect(shown.contains("NO URL") && shown.contains("202e"), "\(format): \(shown)") }
            #expect(!shown.unicodeScalars.contains { "\u{1b}\u{9b}\u{202e}".unicodeScalars.contains($0) }, "\(format)")
        }
        // Output to a file is read by programs, so it is not escaped.
        let file = try Program.run("manifest", queue.folder, "--csv").standardOutput
        #expect(file.contains("NO URL\u{1b}[31m\u{9b}2J\u{202e}"))
    }

    @Test func emptyManifestIsAnEmptyDocument() throws {
        let queue = try Queue()
        try queue.submit([])
        #expect(try Program.run("manifest", queue.folder, "--json").standardOutput == "[]\n")
        #expect(try Program.run("manifest", queue.folder).standardOutput.isEmpty)
    }

    @Test func missingFolderIsAnError() throws {
        let outcome = try Program.run("manifest", "/nowhere/at/all")
        #expect(outcome.status == 1 && outcome.standardError == "error: /nowhere/at/all: no such folder\n")
    }

    @Test func failedWriteToStandardOutputIsAnError() throws {
        let queue = try Queue()
        try queue.submit(["http://h/0"])
        try queue.develop("F")
        let full = try Program(["manifest", queue.folder], output: "/dev/full").outcome()
        #expect(full.status == 1)
        #expect(full.standardError == "error: write to standard output: No space left on device\n")
    }
}
