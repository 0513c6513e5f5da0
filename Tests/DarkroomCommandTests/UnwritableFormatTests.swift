import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// A libvips that cannot write JPEG XL. libvips counts this encoder as untrusted, and a variable blocks it.
private enum BlockedEncoder {
    static let photo = TestFiles.samples + "/moon.png"
    static let environment = ["VIPS_BLOCK_UNTRUSTED": "1"]
    /// Whether the variable blocks the encoder. Also false if the program cannot be started, which other tests report.
    static let isAvailable =
        (try? Program.run("develop", photo, "/dev/null/none.jxl", environment: environment))
        .map { $0.standardError.contains("jxl") } ?? false
}

/// The messages of the commands if the installed libvips cannot write the wanted format.
@Suite(.redisServer, .enabled(if: BlockedEncoder.isAvailable, "this libvips does not block the encoder of JPEG XL"))
struct UnwritableFormatTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The error names the option, the rendition or the file that requests the format.
    @Test(arguments: [
        (["develop", "photo", "out.jxl"], "out.jxl: "), (["develop", "photo", "out", "--format", "jxl"], "--format: "),
        (["develop", "photo", "-o", "out", "--format", "auto:webp,jxl"], "--format: "),
        (["run", "photo", "-o", "out", "--format", "jxl"], "--format: "),
        (
            ["run", "photo", "-o", "out", "--rendition", "a = none", "--rendition", "b = none; format=jxl"],
            "rendition b: "
        ),
    ])
    func commandIsRefused(_ arguments: [String], _ source: String) throws {
        let list = try scratch.write("list.txt", "file://\(BlockedEncoder.photo)\n")
        let names = ["photo": arguments[0] == "run" ? list : BlockedEncoder.photo]
        let outcome = try Program(
            arguments.map { names[$0] ?? $0 }, environment: BlockedEncoder.environment, at: scratch.path
        ).outcome()
        #expect(
            outcome.status == 1 && outcome.standardError.contains("error: \(source)libvips ")
                && outcome.standardError.contains(" cannot write jxl; install "), "\(outcome)")
        #expect(!scratch.exists("out") && !scratch.exists("out.jxl"))
    }

    @Test func workerLeavesTheBatchToOtherWorkers() throws {
        let queue = try Queue()
        let id = try queue.submit(["file://\(BlockedEncoder.photo)"]) { $0.encoding = PhotoEncoding("format=jxl") }
        let options = ["--files-under", TestFiles.samples]
        let refusing = try Program(
            ["worker", "--namespace", queue.namespace] + options,
            environment: queue.environment.merging(BlockedEncoder.environment) { own, _ in own })
        try refusing.waitFor(" cannot write jxl; ")
        let worker = try Program(["worker", "--namespace", queue.namespace] + options, environment: queue.environment)
        #expect(try queue.run("wait", "\(id)", "--timeout", "50s").status == 0)
        for worker in [refusing, worker] {
            worker.send(SIGTERM)
            #expect(try worker.outcome().status == 0)
        }
    }
}
