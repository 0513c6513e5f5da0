import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct OptOutTests {
    @Test(arguments: [
        ("noai", "noai"), ("all, NoImageAI", "noimageai"), ("nofollow,noindex ", "noindex"),
        ("noimageindex", "noimageindex"), ("darkroom: noai", "noai"), ("Darkroom:noai", "noai"),
        ("mybot: noindex", "noindex"), ("googlebot: noindex, darkroom: noai", "noai"),
        ("noai, googlebot: nofollow", "noai"), ("darkroom: nofollow, noai", "noai"),
        ("unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noai", "noai"), ("max-snippet: 20, noindex", "noindex"),
        ("none", nil), ("all", nil), ("", nil), (":", nil), ("noaim", nil), ("googlebot: noai", nil),
        ("googlebot: nofollow, noindex", nil), ("unavailable_after: 25 Jun 2010 15:00:00 PST", nil),
        ("noai: darkroom", nil),
    ])
    func robotsTagIsRead(value: String, directive: String?) {
        #expect(OptOut(userAgent: "MyBot/1.0 (darkroom)").directive(inRobotsTag: value) == directive)
    }

    @Test(arguments: [("1", true), (" 1\t", true), ("0", false), ("", false), ("11", false), ("true", false)])
    func reservationIsRead(value: String, isReserved: Bool) {
        #expect(OptOut(userAgent: "").reserves(value) == isReserved)
    }

    @Test(arguments: [
        ["X-Robots-Tag: all", "x-robots-tag: darkroom: noai"], ["TDM-Reservation: 1"], ["X-ROBOTS-TAG: noindex"],
    ])
    func requestEndsAtTheHeader(headers: [String]) async throws {
        // The body is larger than the buffers of the sockets. Therefore the server is still sending when the client
        // closes the connection, and notices the end.
        let large = try HostileServer([
            "/large": .answer(headers: headers, body: [UInt8](repeating: 1, count: 48 << 20))
        ])
        defer { large.stop() }
        let engine = TransferEngine(.local { $0.skipsOptedOut = true })
        let error = await engine.fetch(large.url("/large")).error
        #expect(error?.code == .optedOut && error?.attempts == 1, "\(String(describing: error))")
        #expect(await large.wait { $0.departures["/large"] == 1 }, "the server has sent the whole body")
        let kept = await TransferEngine(.local()).fetch(large.url("/large"))
        #expect(kept.body?.count == 48 << 20, "without the option, the photo is kept")
    }

    /// The directive concerns the response that carries it: a redirect, an error page or a 103 (Early Hints) contains no
    /// photo.
    @Test func onlyTheResponseWithThePhotoCounts() async throws {
        let tag = "X-Robots-Tag: noindex"
        let early = "HTTP/1.1 103 Early Hints\r\n\(tag)\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n7"
        let server = try HostileServer([
            "/moved": .answer(status: 302, headers: [tag, "Location: /a"]), "/a": .answer(body: [7]),
            "/gone": .answer(status: 404, headers: [tag]), "/early": .raw(Array(early.utf8)),
            "/out": .redirect(to: "/b"), "/b": .answer(headers: [tag], body: [7]),
        ])
        defer { server.stop() }
        let engine = TransferEngine(.local { $0.skipsOptedOut = true })
        #expect(await engine.fetch(server.url("/moved")).body == [7])
        #expect(await engine.fetch(server.url("/early")).body == [55])
        #expect(await engine.fetch(server.url("/gone")).error?.code == .httpClientError(404))
        #expect(await engine.fetch(server.url("/out")).error?.code == .optedOut)
    }

    /// A photo that must not be used says nothing bad about its host.
    @Test func hostWithOptedOutPhotosServesOthers() async throws {
        let server = try HostileServer(["/a": .answer(headers: ["TDM-Reservation: 1"]), "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.skipsOptedOut = true
                $0.retries = 5
                $0.patience = .seconds(60)
            })
        for _ in 0..<5 { #expect(await engine.fetch(server.url("/a")).error?.attempts == 1) }
        #expect(await engine.fetch(server.url("/b")).body == [2])
        #expect(server.log.requests == ["/a": 5, "/b": 1])
    }
}
