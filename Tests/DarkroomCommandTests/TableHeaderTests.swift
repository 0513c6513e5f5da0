import DarkroomTestSupport
import Testing

/// `--header`: the names of the columns before tab-separated values.
@Suite(.redisServer) struct TableHeaderTests {
    @Test func headerPrecedesTheLines() throws {
        let queue = try Queue()
        let id = "\(try queue.submit((0..<3).map { "http://h/\($0)" }))"
        try queue.develop("FiF")
        for (words, header) in [
            (["batches"], "batch\tstate\tphotos\tfiltered\tfailed\tcancelled\trate\tpriority\tname\tnotes"),
            (["photos", id], "index\tstate\treason\tname\tfile\turl\tdetail"),
            (["operations", id], "operation\tstate\tfirst\tphotos\tdone\tfailed\texpiries\tworker"),
            (
                ["workers"],
                "worker\thost\tpid\tseen\tdownloads\tfiltrations\tphotos\trate\toperations\trefuses"
            ),
            (
                ["hosts"],
                "host\tstate\twaiting\trequests\trate\tmedian\tp95\tdownloaded\tfailed\treasons\tremedy"
            ),
            (["doctor"], "check\tverdict\tfound\tadvice"),
        ] {
            let plain = try Program(words + ["--namespace", queue.namespace], environment: queue.environment).outcome()
            let outcome = try Program(
                words + ["--header", "--namespace", queue.namespace], environment: queue.environment
            ).outcome()
            #expect(outcome.lines.first == header, "\(words)")
            #expect(outcome.lines.count == plain.lines.count + 1, "\(words)")
            for line in outcome.lines {
                #expect(line.count { $0 == "\t" } == header.count { $0 == "\t" }, "\(words): \(line)")
            }
        }
    }

    @Test func commandsWithoutRedisHaveTheHeader() throws {
        #expect(try Program.run("filters", "--header").lines.first == "group\tfilter\texample\tsummary")
        let scratch = try ScratchFolder()
        #expect(try Program.run("filters", "--header").lines.count == Program.run("filters").lines.count + 1)
        let list = try scratch.write("list.csv", "name,url\na,NO URL\n")
        let environment = ["TMPDIR": scratch.path]
        _ = try Program.run("run", list, "-o", scratch.path("out"), environment: environment)
        let lines = try Program.run("manifest", scratch.path("out"), "--header").lines
        #expect(
            lines.first == "batch\tindex\tstate\treason\tname\tfile\twidth\theight\tbytes\turl\tdetail"
                && lines.count == 2, "\(lines)")
    }

    @Test(arguments: [
        ["filters", "--json"], ["filters", "sepia"], ["manifest", ".", "--csv"], ["batches", "--json"],
    ])
    func headerNeedsATable(words: [String]) throws {
        let outcome = try Program(words + ["--header"]).outcome()
        #expect(outcome.status == 2 && outcome.standardError.contains("error: --header: only for a table"))
    }
}
