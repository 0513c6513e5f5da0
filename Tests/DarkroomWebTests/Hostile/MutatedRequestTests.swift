import Darkroom
import DarkroomStore
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

@testable import DarkroomWeb

/// Damaged requests, over raw sockets.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct MutatedRequestTests {
    private static let login = "Authorization: Bearer \(TestSite.token)\r\n"
    /// The server closes a connection whose request is not complete after 20 s, and looks once a second. The rest is
    /// for slow machines.
    private static let longestWait = 60
    /// If clients at one address that have not logged in have more than 256 connections, the server may close some.
    private static let mostAtATime = 200
    private static let list = (0..<3).map { "http://photos.example/\($0).jpg\n" }.joined()

    private let site: TestSite
    /// The batch that the requests are about.
    private let id: String

    init() throws {
        site = try TestSite()
        id = try "\(site.submit())"
    }

    /// A connection with a damaged request.
    private struct Case {
        let seed: UInt64
        let request: [UInt8]
        let client: RawClient
    }

    /// No damaged request crashes the server or makes it fail. The server answers each, or closes its connection. While
    /// these connections are open, it serves other clients. A refused request leaves nothing on the disk or in Redis.
    @Test func damagedRequestIsAnsweredOrClosed() throws {
        let run = FuzzRun("damaged requests", count: Self.mostAtATime)
        print(run)
        let seeds = Array(run.seed..<run.seed + UInt64(run.count))
        let before = try storedBatches()
        var accepted = ""
        for start in stride(from: 0, to: seeds.count, by: Self.mostAtATime) {
            accepted += try answers(to: seeds[start..<min(start + Self.mostAtATime, seeds.count)])
        }

        for batch in try storedBatches().subtracting(before) {
            #expect(accepted.contains(batch), "no answer names batch \(batch), which was stored")
        }
        let uploads = try uploadsThatRemain()
        #expect(uploads.isEmpty, "\(uploads)")
        #expect(try site.json("GET", "/batches/\(id)")["id"]?.string == id)
    }

    /// Sends the requests of some seeds on connections that are open at the same time, so that the test waits only
    /// once for the time limit of the server.
    /// - Returns: the answers to the submissions that were accepted.
    private func answers(to seeds: ArraySlice<UInt64>) throws -> String {
        var cases: [Case] = []
        for seed in seeds {
            let request = damagedRequest(seed)
            let client = try RawClient(port: site.port)
            // A third of the requests arrive in two pieces. The server reads the first piece before it answers the
            // undamaged request that is sent between the two pieces.
            let middle = seed % 3 == 0 ? request.count / 2 : 0
            client.send(Array(request[..<middle]))
            try expectNormalService(at: seed)
            client.send(Array(request[middle...]))
            try expectNormalService(at: seed)
            cases.append(Case(seed: seed, request: request, client: client))
        }
        var accepted = ""
        let end = ContinuousClock.now + .seconds(Self.longestWait)
        for damaged in cases {
            let left = max(1, Int((end - .now) / .seconds(1)))
            let text = String(decoding: damaged.client.readBytes(timeout: left), as: UTF8.self)
            let isClosed = damaged.client.waitForClose(timeout: 1)
            #expect(isClosed, "the connection is still open: \(describe(damaged))")
            #expect(text.isEmpty || text.hasPrefix("HTTP/1."), "\(describe(damaged)); answer: \(text.prefix(200))")
            let statuses = Self.statuses(text)
            #expect(
                statuses.allSatisfy(Self.isExpected),
                "statuses \(statuses): \(describe(damaged)); answer: \(text.prefix(2000))")
            if statuses.contains(201) || statuses.contains(303) { accepted += text }
        }
        return accepted
    }

    // MARK: - Requests

    /// The damaged request of a seed: a valid request with one to eight changed bytes, or one to three changed lines.
    private func damagedRequest(_ seed: UInt64) -> [UInt8] {
        var mutator = ByteMutator(SeededGenerator(seed: seed))
        let requests = validRequests(seed)
        let valid = requests[Int(seed % UInt64(requests.count))]
        let other = mutator.generator.pick(requests)
        guard mutator.generator.chance(50) else { return mutator.mutate(valid, with: other) }
        var lines = String(decoding: valid, as: UTF8.self).components(separatedBy: "\r\n")
        for _ in 0..<mutator.generator.number(in: 1..<4) { Self.change(&lines, &mutator.generator) }
        var request = Array(lines.joined(separator: "\r\n").utf8)
        if mutator.generator.chance(15) { request.removeLast(mutator.generator.number(in: 0..<request.count)) }
        return request
    }

    /// Changes one line, but not the request line: repeats it, removes it, swaps it with another line, makes it a
    /// continuation of the line before it, or inserts an odd line before it.
    private static func change(_ lines: inout [String], _ generator: inout SeededGenerator) {
        guard lines.count > 2 else { return }
        let place = generator.number(in: 1..<lines.count)
        switch generator.number(in: 0..<6) {
        case 0: lines.insert(lines[place], at: place)
        case 1: lines.remove(at: place)
        case 2: lines.swapAt(place, generator.number(in: 1..<lines.count))
        case 3: lines[place] = " " + lines[place]
        default: lines.insert(generator.pick(oddLines), at: place)
        }
    }

    private static let oddLines = [
        "Content-Length: 5", "Content-Length: 0", "Content-Length: -1", "Content-Length: 18446744073709551616",
        "Content-Length: 1073741824", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked",
        "Host: evil.example", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "X: a\rY: b", "X: a\nY: b",
        "X: \u{0}a", "X: \u{0}", ": a", "no colon", "X-\u{e9}: \u{202e}", "Expect: 100-continue", "Expect: nothing",
        "Connection: keep-alive", "Cookie: a=\"", "Cookie: " + String(repeating: ";", count: 3000), "Range: bytes=5-1",
        "If-None-Match: *", "Content-Encoding: gzip", "Content-Type: text/csv", "Accept: text/html",
        "X: " + String(repeating: "a", count: 40_000), "", "--boundary", "--boundary--",
        "Content-Disposition: form-data; name=\"output\"; filename=\"../../x\"",
    ]

    /// Requests without faults: with and without a login, with a JSON body, a form, a form with a file, a body in
    /// chunks.
    private func validRequests(_ seed: UInt64) -> [[UInt8]] {
        let batch = "/api/v1/batches/\(id)"
        let json = "Content-Type: application/json\r\n", form = "Content-Type: application/x-www-form-urlencoded\r\n"
        let page = "Accept: text/html\r\n"
        let file = Form(fields: [("output", "form-\(seed)"), ("filter", "sepia")], list: Self.list)
        let fileType = file.headers.map { "\($0): \($1)\r\n" }.joined()
        let fileBody = String(decoding: file.bytes, as: UTF8.self)
        let chunks = "6\r\n{\"down\r\nc\r\nloads\": 16 }\r\n0\r\n\r\n"
        let texts = [
            request("GET", "/healthz"),
            request("GET", "/api/v1/openapi.json"),
            request("GET", "/", page),
            request("GET", "/login?token=wrong", page),
            request("POST", "/login", form, body: "token=0123456789abcdef&next=%2Fworkers"),
            request("GET", "/api/v1/batches?state=ready&limit=5", Self.login),
            request("GET", "\(batch)/photos?first=1&limit=2&state=new&name=p", Self.login),
            request(
                "GET", "\(batch)/photos/0/file?download=1", Self.login + "Range: bytes=0-9\r\nIf-None-Match: \"a\"\r\n"),
            request("GET", "/batches/\(id)?first=2", Self.login + page),
            request("HEAD", "/cluster", Self.login + page),
            request("PUT", "/api/v1/limits", Self.login + json, body: #"{"downloads": 16, "filtrations": 4}"#),
            request("POST", "\(batch)/suspend", Self.login + form, body: "part=downloads"),
            request("PUT", "/api/v1/limits", Self.login + json + "Transfer-Encoding: chunked\r\n") + chunks,
            request("POST", "/api/v1/batches", Self.login + fileType, body: fileBody),
            request(
                "POST", "/api/v1/batches?output=list-\(seed)&limit=2", Self.login + "Content-Type: text/csv\r\n",
                body: Self.list),
            request("POST", "/submit?name=page-\(seed)", Self.login + page + fileType, body: fileBody),
        ]
        return texts.map { Array($0.utf8) }
    }

    private func request(_ method: String, _ target: String, _ fields: String = "", body: String? = nil) -> String {
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        return "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(fields)\(length)\r\n"
            + (body ?? "")
    }

    // MARK: - Checks

    /// Expects that the server answers an undamaged request of another client.
    private func expectNormalService(at seed: UInt64) throws {
        let status = try site.fetch("GET", "/healthz").status
        #expect(status == 200, "seed \(seed)")
    }

    private static func statuses(_ text: String) -> [Int] {
        text.matches(of: #/HTTP/1\.[01] (\d{3}) /#).compactMap { Int($0.1) }
    }

    /// A request may have an unknown method (501) or version (505), and the server may have too much to do (503). All
    /// other statuses from 500 on are faults of the server.
    private static func isExpected(_ status: Int) -> Bool {
        (100..<500).contains(status) || [501, 503, 505].contains(status)
    }

    private func storedBatches() throws -> Set<String> {
        Set(try site.client.store.batchIDs().map(\.description))
    }

    /// The files of request bodies, after all connections are closed. The server removes them after it has closed a
    /// connection, so this makes further requests, which the same thread handles, until they are gone or 10 s have
    /// passed.
    private func uploadsThatRemain() throws -> [String] {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let files = try FileManager.default.contentsOfDirectory(atPath: site.scratch)
            let uploads = files.filter { $0.hasPrefix("upload") }
            if uploads.isEmpty || .now > end { return uploads }
            _ = try site.fetch("GET", "/healthz")
        }
    }

    private func describe(_ damaged: Case) -> String {
        "seed \(damaged.seed): " + String(decoding: damaged.request, as: UTF8.self).prefix(2000).debugDescription
    }
}
