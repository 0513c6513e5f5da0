import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// The examples on the page about the HTTP API.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct HTTPAPIPageTests {
    static let project = TestFiles.package

    private func page(_ name: String) throws -> String {
        let path = "Sources/Surfaces/Darkroom/Darkroom.docc/\(name).md"
        return try String(contentsOf: Self.project.appendingPathComponent(path), encoding: .utf8)
    }

    /// The examples run in their order. Only the addresses are others.
    @Test func examplesWork() throws {
        let photos = try PhotoServer(folder: Self.project.appendingPathComponent("Tests/Samples").path)
        defer { photos.stop() }
        let queue = try Queue()
        let server = try ServingProgram(queue)
        let names = ["flower.jpg", "moon.png", "missing.jpg"]
        try server.scratch.write("photos.csv", names.map { photos.url($0) + "\n" }.joined())
        let lists = try ScratchFolder()
        try lists.write("list.csv", photos.url("rocket.jpg") + "\n")
        let list = try PhotoServer(folder: lists.path)
        defer { list.stop() }
        let worker = try queue.start("worker", "--allow-private", "--outputs-under", server.outputs)
        defer { worker.insist(SIGTERM) }
        let examples = try page("HTTPAPI").matches(of: #/(?s)```sh\n(.*?)```/#).map { String($0.1) }
        #expect(examples.count == 9)
        var isDeveloped = false
        for example in examples {
            // The examples that read files follow those that submit.
            if example.contains("/holidays"), !isDeveloped {
                let outcome = try queue.run("wait", "holidays", "--timeout", "40s")
                #expect(outcome.status == 3, "\(outcome.standardError)")  // one photo is missing
                isDeveloped = true
            }
            let script = example.replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(server.port)")
                .replacing("https://photos.example/list.csv", with: list.url("list.csv"))
                .replacing("--max-time 60", with: "--max-time 1")
            try run(script, in: server.scratch, endsByTime: example.contains("--max-time"))
        }
        for name in ["photo.jpg", "original.jpg", "small.jpg"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: server.scratch.path(name)))
            #expect(bytes.starts(with: [0xff, 0xd8]), "\(name)")
        }
    }

    private func run(_ script: String, in folder: ScratchFolder, endsByTime: Bool) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-eu", "-o", "pipefail", "-c", script]
        process.currentDirectoryURL = folder.url
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // curl has the exit status 28 if its time has passed.
        #expect(process.terminationStatus == (endsByTime ? 28 : 0), "\(script)\n\(text)")
        if endsByTime { #expect(text.contains("event: states"), "\(text)") }
    }

    /// The page has every path, every event and every status of the description.
    @Test func pageIsComplete() throws {
        let page = try page("HTTPAPI")
        let path = Self.project.appendingPathComponent("Sources/Surfaces/DarkroomWeb/Assets/openapi.json")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: path)) as? [String: Any])
        for (path, methods) in try #require(document["paths"] as? [String: [String: Any]]) {
            let last = path.split(separator: "/").last { !$0.hasPrefix("{") } ?? ""
            #expect(page.contains("/\(last)") || page.contains("`\(last)`"), "\(path)")
            for operation in methods.values {
                let responses = try #require((operation as? [String: Any])?["responses"] as? [String: Any])
                for status in responses.keys where status >= "400" {
                    #expect(page.contains(status), "\(path) \(status)")
                }
            }
        }
    }
}
