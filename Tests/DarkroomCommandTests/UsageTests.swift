import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomTestSupport
import DarkroomTransfer
import DarkroomWorker
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// The help of the program, and values that no command accepts.
@Suite struct UsageTests {
    /// A name in the encoding of an old disk: the program must not use another file.
    @Test func argumentThatIsNotUTF8IsRefused() throws {
        let folder = try ScratchFolder()
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", #""$0" develop photo.jpg -o "$(printf 'caf\351')" 2>error"#, Program.executable.path,
        ]
        shell.currentDirectoryURL = folder.url
        try shell.runReceivingSignals()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 2)
        let error = try String(contentsOfFile: folder.path("error"), encoding: .utf8)
        #expect(
            error
                == "error: argument 4, caf\u{FFFD}, is not UTF-8 text; name the folder of the file, or rename the file\n"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["error"])
    }

    @Test(arguments: [
        ("worker --downloads 0", "--downloads 0: at least 1"),
        ("worker --downloads 9223372036854775807", "--downloads 9223372036854775807: at most 10000"),
        ("worker --filtrations -1", "--filtrations -1: at least 1"),
        ("worker --downloads many", "--downloads \"many\": not a whole number"),
        ("worker --grace 10x", "--grace \"10x\": write a duration with its unit"),
        ("worker --when-disk-full give-up", "--when-disk-full \"give-up\": it can be wait, fail"),
        ("worker --per-host 0", "--per-host 0: at least 1"),
        ("worker --retries -1", "--retries -1: at least 0"),
        ("worker --timeout 0s", "--timeout 0s: at least 1ms"),
        ("worker --timeout 400d", "--timeout 9600h: at most 8760h"),
        ("worker --max-download 64XB", "--max-download \"64XB\": write a size in bytes with its unit"),
        ("worker --max-download 2TiB", "--max-download 2048GiB: at most 1024GiB"),
        ("worker --max-pixels 0", "--max-pixels 0: at least 1"),
        ("worker --connect-to a:b", "--connect-to \"a:b\": write HOST:PORT:HOST:PORT"),
        ("worker --connect-to a:1:b:x", "--connect-to \"a:1:b:x\": write HOST:PORT:HOST:PORT"),
        ("worker --proxy socks5://a:hush@b", "--proxy: write socks5h://, because the proxy looks up the names"),
        ("worker --proxy a:hush@b", "--proxy: write SCHEME://[USER:PASSWORD@]HOST[:PORT] with the scheme http"),
        ("worker --proxy http://a:hush@10.0.0.1", "--proxy http://10.0.0.1:1080: 10.0.0.1 is not an address of the"),
        ("worker --ca /nowhere", "--ca /nowhere: no such file"),
        ("worker --ca /usr", "--ca /usr: not a file that can be read"),
        ("worker --ca /dev/zero", "--ca /dev/zero: not a regular file"),
        ("worker --ca /etc/passwd", "--ca /etc/passwd: not a file of certificates in PEM format"),
        ("run list -o out --ca /nowhere", "--ca /nowhere: no such file"),
        ("worker --header Accept", "--header \"Accept\": write a name, a colon and a value"),
        ("worker --header :x", "--header \"\": write a name, a colon and a value"),
        ("worker --header Authorization:x", "--header \"Authorization\": its value may be a secret, and every host"),
        ("worker --header ftp://a=Cookie:x", "--header \"ftp://a\": write HOST=LINE with a host like"),
        ("worker --header a:=Cookie:x", "--header \"a:\": write HOST=LINE with a host like"),
        ("worker --header a:70000=Cookie:x", "--header \"a:70000\": write HOST=LINE with a host like"),
        ("worker --header https://a:x=Cookie:x", "--header \"https://a:x\": write HOST=LINE with a host"),
        ("worker --header http://a/b=Cookie:x", "--header \"http://a/b\": write HOST=LINE with a host"),
        ("worker --header-file /no/such", "--header-file /no/such: no such file"),
        (
            "worker --allow-networks 10.0.0.0/33",
            "--allow-networks \"10.0.0.0/33\": \"33\" is not a number of bits from 0 to 32"
        ),
        (
            "worker --allow-networks 10.0.0.1/8",
            "--allow-networks \"10.0.0.1/8\": bits after the first 8 are set; write"
        ),
        ("worker --allow-networks 10.0/8", "--allow-networks \"10.0/8\": no address; write it in full"),
        ("worker --deny-hosts http://a/", "--deny-hosts \"http://a/\": write a host without scheme"),
        ("worker --allow-hosts a*.org", "--allow-hosts \"a*.org\": write a host without scheme"),
        ("worker --thread-priority 1.5", "--thread-priority 1.5: at most 1.0"),
        ("worker --thread-priority low", "--thread-priority \"low\": not a number"),
        ("run l -o d --thread-priority -1", "--thread-priority -1.0: at least 0.0"),
        ("worker --webhook-hosts a.example,http://b", "--webhook-hosts \"http://b\": not a host; write HOST"),
        ("worker --webhook-hosts a.example,", "--webhook-hosts \"\": not a host; write HOST"),
        ("status --redis http://h", "read the address of Redis: found the scheme \"http\"; it must look like redis://"),
        ("status --namespace a/b", "--namespace \"a/b\": letters, digits"),
        ("worker --per-host some", "--per-host \"some\": write auto, or a number such as 6"),
        ("worker --rate 0/s", "--rate \"0/s\": write a number of requests and a unit, such as 10/s, 30/m or 100/h"),
        ("worker --rate-total 100000/s", "--rate-total \"100000/s\": from 1 in 1,000 s to 10,000/s"),
        ("worker --rate 1/h", "--rate \"1/h\": from 1 in 1,000 s to 10,000/s"),
        ("worker --rate 10", "--rate \"10\": write a number of requests and a unit, such as 10/s, 30/m or 100/h"),
        ("worker --name-servers dns.example", "--name-servers \"dns.example\": write an address"),
        ("doctor --max-download 1000000TiB", "--max-download 1024000000GiB: at most 1024GiB"),
        ("doctor --max-pixels 0", "--max-pixels 0: at least 1"),
        ("develop a b --quality 101", "--quality 101: write a whole number from 1 to 100"),
        (
            "develop a b --filter sepa",
            "--filter \"sepa\": character 1: there is no filter \"sepa\"; did you mean sepia?"
        ),
        (
            "develop a b --filter x:border",
            "--filter x:border: develop runs no custom filters; to try one: darkroom run <folder> --limit 1 -o <folder> "
                + "--filter x:border --custom-filter border='<command>'"
        ),
        (
            "run l -o d --rendition a=resize=100 sharpen",
            "unexpected argument \"sharpen\"; if it is part of the value of --rendition, put the whole value in quotes"
        ),
        ("develop a b --format bmp", "--format bmp: write one of jpeg, png"),
        ("develop a", "name the file that is written, as in: darkroom develop IN OUT; or a folder with -o <folder>"),
        ("develop a b c", "3 names: darkroom develop IN OUT takes two; for many photos name a folder with -o <folder>"),
        (
            "develop a b.xyz",
            "b.xyz: no format has the ending .xyz; use .jpg, .jpeg, .png, .webp, .avif, .heic, .heif, "
        ),
        ("develop a b.jpg --format webp", "--format webp: the ending of b.jpg says jpeg; leave one of them out"),
        ("develop a b.jpg --format same", "--format same: the ending of b.jpg says jpeg; leave one of them out"),
        ("develop a b.png --format auto:webp,jpeg", "--format auto:webp,jpeg: the ending of b.png says png"),
        ("develop a b.xyz --format bmp", "--format bmp: write one of jpeg, png"),
        ("develop a b.webp --progressive", "--progressive: no effect on webp; it is for jpeg and png"),
        ("develop a b.png --chroma 444", "--chroma: no effect on png"),
        ("run l -o d --format webp --progressive", "--progressive: no effect on webp; it is for jpeg and png"),
        ("run l -o d --format webp --lossless --quality 50", "--quality: no effect with lossless; leave one of them"),
        ("run l -o d --strip --metadata exif", "--strip: it is --metadata none; leave one of them out"),
        ("run l -o d --max-bytes 0", "--max-bytes 0: "), ("run l -o d --max-bytes many", "--max-bytes many: "),
        ("run l -o d --format png --max-bytes 10KB", "--max-bytes: no effect on png"),
        ("run l -o d --rendition a=none --rendition A=flip", "--rendition: character 1: the name differs from a only"),
        ("run l -o d --recipe /no/such", "--recipe \"/no/such\": No such file or directory"),
        ("retry b --limit 10", "--limit: only with --list <list>"),
        ("retry b --sample 10", "--sample: only with --list <list>"),
        ("retry b --recursive", "--recursive: only with --list <list>"),
        ("retry b --url-column 2", "--url-column: only with --list <list>"),
        ("develop - -o d", "standard input has no name for a file in a folder"),
        ("suspend", "name a batch, or the whole cluster with --all"),
        ("suspend --downloads", "name a batch, or the whole cluster with --all"),
        ("suspend b --all", "name a batch, or the whole cluster with --all"),
        ("resume", "name a batch, or the whole cluster with --all"),
        ("ls", "unknown command \"ls\"; did you mean batches?"),
        ("list", "unknown command \"list\"; did you mean batches?"),
        ("pause", "unknown command \"pause\"; did you mean suspend?"),
        ("stop", "unknown command \"stop\"; did you mean cancel or suspend?"),
        ("rm", "unknown command \"rm\"; did you mean forget?"), ("ps", "unknown command \"ps\"; did you mean workers?"),
        ("start", "unknown command \"start\"; did you mean run, submit or worker?"),
        ("develop a - --json", "--json: standard output has the photo"),
        ("manifest . --csv --json", "--csv and --json: choose one"),
        ("photos b --state done", "--state \"done\": it can be new, downloaded, filtered, failed, cancelled"),
        ("wait --timeout soon", "--timeout \"soon\": write a duration"),
        ("cancel", "name a batch, or cancel all with --all"),
        ("cancel b --all", "name a batch, or cancel all with --all"),
        ("cancel --all --photos 1", "--photos and --all: name the batch of these photos"),
        ("cancel b --photos 1 --wait", "--photos and --wait: only a whole batch can be waited for"),
        (
            "cancel b --photos 20-10,1",
            "--photos \"20-10,1\": write indexes from 0 and ranges of them, the smaller first, as 10-20,31 (found \"20-10\")"
        ),
        ("cancel b --photos 5-", "--photos \"5-\": write indexes from 0"),
        ("cancel b --photos=-5", "--photos \"-5\": write indexes from 0"),
        ("prioritize b urgent", "<priority> \"urgent\": it can be veryLow, low, normal, high, veryHigh"),
        ("prioritize b hihg", "<priority> \"hihg\": did you mean \"high\"? it can be"),
        ("prioritize b", "missing <priority>"),
        ("depend b", "name the batch to wait for: --on <batch>"),
        ("focus b", "name the photos with --photos <range>, or remove the focus with --clear"),
        ("focus b --photos 1-3,5", "--photos \"1-3,5\": a focus is one range, such as 40-60"),
        ("focus b --clear --only", "--only and --clear: choose one"),
        (
            "retry b --reason timeout,slow",
            "--reason \"timeout,slow\": no reason is called \"slow\"; it can be not-a-url"
        ),
        (
            "limits --downloads 0",
            "--downloads 0: from 1 to 1024; to start none, use \"darkroom suspend --all --downloads\""
        ),
        ("limits --filtrations 257", "--filtrations 257: from 1 to 256"),
        ("limits --clear --downloads 3", "--clear removes both limits"),
        (
            "resize 300x200 a b",
            "unknown command \"resize\"; resize is a filter: darkroom develop IN OUT --filter resize=300x200"
        ),
        ("sepia a b", "unknown command \"sepia\"; sepia is a filter: darkroom develop IN OUT --filter sepia; "),
        ("grey", "unknown command \"grey\"; grayscale is a filter: darkroom develop IN OUT --filter grayscale; "),
        ("a.jpg b.jpg", "unknown command \"a.jpg\"; to develop photos: darkroom develop IN OUT, or "),
        ("run l -o d --width 300", "unknown option --width; use --filter resize=300x\n"),
        ("run l -o d --height=300", "unknown option --height; use --filter resize=x300\n"),
        ("develop a b --resize 300x200", "unknown option --resize; use --filter resize=300x200\n"),
        ("submit l -o d -resize 300x200", "unknown option -resize; use --filter resize=300x200\n"),
        ("run --sepia l -o d", "unknown option --sepia; sepia is a filter: --filter sepia\n"),
        ("run l -o d --crop", "unknown option --crop; crop is a filter: --filter crop=16:9,gravity:attention\n"),
        ("run l -o d -j 8", "unknown option -j; did you mean --downloads or --filtrations?\n"),
        ("worker --threads=8", "unknown option --threads; did you mean --downloads or --filtrations?\n"),
        ("limits --jobs 8", "unknown option --jobs; did you mean --downloads or --filtrations?\n"),
        ("develop a -o d --parallel 8", "unknown option --parallel; did you mean --jobs?\n"),
        (
            "submit l -o d -j8",
            "unknown option -j8; use --downloads, --filtrations or --jobs of run, limits, worker or dev"
        ),
        ("serve --port 8080", "unknown option --port; did you mean --listen?\n"),
        ("serve -p 8080", "unknown option -p; did you mean --listen?\n"),
        ("worker --port 8080", "unknown option --port; did you mean --metrics?\n"),
        ("run l -o d --port 8080", "unknown option --port; --serve shows the photos in the browser, on a free port\n"),
        ("run l -o d --force", "unknown option --force; did you mean --again or --overwrite?\n"),
        ("status -j", "unknown option -j; did you mean --json?\n"),
        ("run l out", "unexpected argument \"out\"; to name the output folder: -o out\n"),
        (
            "run a.jpg b.jpg",
            "unexpected argument \"b.jpg\"; the command takes one list or one folder; to develop these "
        ),
        ("run l -o d -f sepia", "unknown option -f; did you mean --again, --filter or --overwrite?\nUsage"),
        ("batches --wait", "unknown option --wait; it is an option of submit or cancel\n"),
        (
            "run a.jpg b.jpg --filter sepia -o out",
            "unexpected argument \"b.jpg\"; the command takes one list or one folder; to develop these photos: "
                + "darkroom develop a.jpg b.jpg --filter sepia -o out\n"
        ),
        (
            "submit a.jpg b.jpg --name x -oout",
            "unexpected argument \"b.jpg\"; the command takes one list or one folder; to develop these photos: "
                + "darkroom develop a.jpg b.jpg -o out\n"
        ),
        ("stauts", "unknown command \"stauts\"; did you mean status?"),
    ])
    func badValueIsAUsageError(_ line: String, _ message: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(arguments) }
        #expect(end.code == .usage && end.standardOutput.isEmpty)
        #expect(end.standardError.contains("error: \(message)"), "\(end.standardError)")
    }

    /// Each option is within the limits of a chain, and all together are not. The path of a watermark becomes absolute.
    @Test(arguments: [
        (Array(repeating: String(repeating: "flip ", count: 60), count: 2), "more than 100"),
        (Array(repeating: "x:N=" + String(repeating: "a", count: 4000), count: 5), "longer than 16384 bytes"),
        (["watermark=image:" + String(repeating: "a", count: 4094)], "write a text of 1 to 4096 characters"),
    ])
    func filtersTogetherHaveTheLimitsOfAChain(_ filters: [String], _ message: String) throws {
        for command in [
            ["submit", "l", "-o", "/d", "--remote-output"], ["run", "l", "-o", "d"], ["develop", "a", "b"],
        ] {
            let arguments = command + filters.flatMap { ["--filter", $0] }
            let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(arguments) }
            let text = end.standardError
            #expect(end.code == .usage && text.contains("error: --filter: ") && text.contains(message), "\(text)")
        }
    }

    @Test func acceptsOtherSpellingsOfValues() throws {
        func parsed<Command: ParsableCommand>(_ line: String) throws -> Command {
            let words = line.split(separator: " ").map(String.init)
            return try #require(try DarkroomProgram.parseAsRoot(words) as? Command)
        }
        let submit: SubmitCommand = try parsed("submit l -o d --priority High --format JPG --lease 300 --retain 1.5")
        #expect(submit.queue.priority == .high && submit.queue.lease == .seconds(300))
        let settings = try submit.image.options().encoding
        #expect(settings.format == .fixed(.jpeg))
        #expect(submit.queue.retain.duration == .milliseconds(1500))
        let develop: DevelopCommand = try parsed("develop a b.TIF --format tif")
        let developed = try develop.image.options().encoding
        #expect(developed.format == .fixed(.tiff))
        let prioritize: PrioritizeCommand = try parsed("prioritize b veryhigh")
        #expect(prioritize.priority == .veryHigh)
    }

    @Test(arguments: ["redis://:secret@host:99999999", "redis://ann:secret@", "http://:secret@host"])
    func passwordOfABadAddressIsNotShown(_ address: String) throws {
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot(["status"], environment: ["DARKROOM_REDIS": address])
        }
        #expect(end.code == .usage && !end.standardError.contains("secret"), "\(end.standardError)")
    }

    @Test func everyCommandHasHelpWithAnExample() throws {
        for command in DarkroomProgram.configuration.subcommands where command.configuration.shouldDisplay {
            let name = command.configuration.name
            let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot([name, "--help"]) }
            #expect(end.code == .success)
            let isGroup = !command.configuration.subcommands.isEmpty
            #expect(isGroup || end.standardOutput.contains("\n  darkroom \(name)"), "\(name) shows no example")
            #expect(["This machine", "Coordinator", "Worker", "Monitor"].contains(command.configuration.group))
            #expect(!end.standardOutput.contains("default: )"), "\(name)'s help has an empty default value")
            #expect(!end.standardOutput.contains("\\"), "\(name)'s help has a backslash: \(end.standardOutput)")
        }
    }

    @Test func helpFitsOnAScreenAndHelpAllHasEveryOption() throws {
        func help(_ words: [String]) throws -> [Substring] {
            let text = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(words) }.standardOutput
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            #expect(lines.allSatisfy { $0.count <= 90 && $0.last != " " }, "\(text)")
            return Array(lines)
        }
        #expect(try help(["--help"]).count <= 45)
        #expect(try help(["--help", "all"]).contains { $0.contains("Exit status: 0 success") })
        for type in DarkroomProgram.configuration.subcommands where type.configuration.shouldDisplay {
            let name = type.configuration.name
            let (short, complete) = (try help([name, "--help"]), try help([name, "--help", "all"]))
            #expect(short.count <= 45, "\(name): \(short.count) lines")
            let isWhole = short == complete
            let hint = short.last?.contains("'darkroom \(name) --help all' shows all ")
            #expect(isWhole != (hint == true), "\(name)")
            let names = type.init().optionNames()
            #expect(!names.isEmpty)
            func has(_ option: String, _ lines: [Substring]) -> Bool {
                lines.contains {
                    $0.hasPrefix("  \(option)") || $0.hasPrefix("  -") && $0.dropFirst(6).hasPrefix(option)
                }
            }
            for option in names { #expect(has(option, complete), "\(name) \(option)") }
            for option in type.configuration.mainOptions { #expect(has("--\(option)", short), "\(name) \(option)") }
            #expect(type.configuration.mainOptions.count <= 14)
        }
    }

    @Test func printsTheVersion() throws {
        let outcome = try Program.run("--version")
        #expect(outcome.status == 0 && outcome.standardOutput == "darkroom \(darkroomVersion)\n")
        for word in ["-v", "-V", "version"] { #expect(try Program.run(word).standardOutput == outcome.standardOutput) }
        let help = try Program.run("--help").standardOutput
        for group in ["This machine:", "Coordinator:", "Worker:", "Monitor:"] { #expect(help.contains("\n\(group)\n")) }
        #expect(try Program.run().status == 2)
    }

    @Test(arguments: [
        ([], true, true), (["--when-disk-full", "wait"], true, true),
        (["--when-disk-full", "fail", "--no-fsync"], false, false),
    ])
    func diskOptionsBecomeTheConfigurationOfTheWorker(
        options: [String], waitsForSpace: Bool, isDurable: Bool
    ) throws {
        let command = try #require(try DarkroomProgram.parseAsRoot(["worker"] + options) as? WorkerCommand)
        let configuration = try command.workerConfiguration()
        #expect(configuration.waitsForDiskSpace == waitsForSpace && configuration.isDurable == isDurable)
    }

    @Test func fetchOptionsBecomeTheConfigurationOfTransfers() throws {
        let certificates = try Certificates()
        let line = """
            worker --downloads 3 --filtrations 2 --grace 1s --outputs-under / --per-host 4 --connect-timeout 2s \
            --stall-timeout 3s --min-rate 2KiB --timeout 4m --max-download 5MiB --max-pixels 7M --max-redirects 1 --retries 0 \
            --header Accept:x --user-agent me --allow-private --files-under /usr/./lib --connect-to ::[::1]:8080 \
            --skip-opted-out --http1 --proxy http://a:b@127.0.0.1:3128 --ca \(certificates.authority) --rate 5/s \
            --rate-total 60/m --patience 6s --retry-for 7s --name-servers 192.0.2.53 --allow-networks 10.0.0.0/8 \
            --allow-hosts *.example --deny-hosts bad.example
            """
        let command = try #require(
            try DarkroomProgram.parseAsRoot(line.split(separator: " ").map(String.init)) as? WorkerCommand)
        let worker = try command.workerConfiguration()
        #expect(worker.downloads == 3 && worker.filtrations == 2 && worker.gracePeriod == .seconds(1))
        #expect(worker.outputFolders == ["/"] && worker.maxPixels == 7_000_000)
        let (rules, standard) = (Mirror(reflecting: worker.downloadRules), Mirror(reflecting: DownloadRules()))
        for (rule, standard) in zip(rules.children, standard.children) {
            #expect("\(rule.value)" != "\(standard.value)", "no option sets \(rule.label ?? "")")
        }
        let transfer = try worker.downloadRules.transferConfiguration()
        #expect(transfer.rate == 5 && transfer.totalRate == 1)
        #expect(transfer.patience == .seconds(6) && transfer.retryTime == .seconds(7))
        #expect(transfer.nameServers == "192.0.2.53" && transfer.allowedNetworks.map(\.description) == ["10.0.0.0/8"])
        #expect(transfer.allowedHosts.map(\.description) == ["*.example"])
        #expect(transfer.deniedHosts.map(\.description) == ["bad.example"])
        #expect(transfer.perHost == 4 && transfer.connectTimeout == .seconds(2))
        #expect(transfer.stallTimeout == .seconds(3) && transfer.timeout == .seconds(240))
        #expect(transfer.minBytesPerSecond == 2048)
        #expect(transfer.maxBytes == 5 << 20 && transfer.maxRedirects == 1 && transfer.retries == 0)
        #expect(transfer.headers == [RequestHeader("Accept:x")] && transfer.userAgent == "me" && transfer.allowPrivate)
        #expect(transfer.skipsOptedOut && !transfer.usesHTTP2 && transfer.fileFolders == ["/usr/lib"])
        #expect(transfer.connectTo == ["::[::1]:8080"])
        #expect(
            transfer.authorities == certificates.authority && transfer.proxy?.description == "http://127.0.0.1:3128")
    }

    @Test func readsHeadersFromAFileAndHidesThemInErrors() throws {
        let scratch = try ScratchFolder()
        let file = scratch.path("headers")
        func headers(_ text: String) throws -> [RequestHeader] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let command = try DarkroomProgram.parseAsRoot(["worker", "--header-file", file]) as? WorkerCommand
            return try #require(command).workerConfiguration().downloadRules.transferConfiguration().headers
        }
        let read = try headers("# of the archive\n\narchive.example=Authorization: Bearer hush\r\nAccept: image/*\n")
        #expect(read.map(\.line) == ["Authorization: Bearer hush", "Accept: image/*"])
        #expect(read.map { $0.hosts?.description } == ["archive.example", nil])
        do {
            _ = try headers("Accept: */*\nAuthorization: Bearer hush\n")
            Issue.record("a secret for all hosts was accepted")
        } catch {
            let text = (error as? CommandExit)?.standardError ?? ""
            #expect(text.contains("line 2, \"Authorization\"") && !text.contains("hush"), "\(error)")
        }
    }

    @Test func outputsUnderRequiresAFolder() throws {
        for (folder, found) in [("/no/such", "no such folder"), ("/etc/passwd", "not a folder")] {
            let command = try #require(
                try DarkroomProgram.parseAsRoot(["worker", "--outputs-under", folder]) as? WorkerCommand)
            let error = try requireError(CommandError.self) { try command.workerConfiguration() }
            #expect(error.description.hasPrefix("--outputs-under \(folder): \(found)"))
        }
    }
}
