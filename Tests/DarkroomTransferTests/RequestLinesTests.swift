import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

/// The header lines of a request.
@Suite(.timeLimit(.minutes(5))) struct RequestLinesTests {
    /// The names of the header lines of a request, and the values of `Accept`.
    private func lines(
        _ change: (inout TransferConfiguration) -> Void
    ) async throws -> (names: [String], accepted: [String]) {
        let server = try HostileServer(["/a": .redirect(to: "/b"), "/b": .answer(body: [1])])
        defer { server.stop() }
        #expect(await TransferEngine(.local(change)).fetch(server.url("/a")).body == [1])
        let lines = try #require(server.log.heads.last).split(separator: "\r\n").dropFirst()
        let fields = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
        }
        return (fields.map(\.name), fields.filter { $0.name == "Accept" }.map(\.value))
    }

    /// No `Expect`, `Cookie`, `Referer` or `Accept-Encoding`.
    @Test func onlyUsualLinesAreSent() async throws {
        #expect(try await lines { _ in }.names.sorted() == ["Accept", "Host", "User-Agent"])
    }

    @Test func acceptNamesFormats() async throws {
        let sent = try await lines { $0.accept = "image/png,*/*;q=0.5" }
        #expect(sent.accepted == ["image/png,*/*;q=0.5"] && sent.names.count == 3)
    }

    @Test func givenLineOverridesAccept() async throws {
        let sent = try await lines {
            $0.accept = "image/png"
            $0.headers = [RequestHeader("accept: image/*")]
        }
        #expect(sent.names.filter { $0.lowercased() == "accept" } == ["accept"])
        let none = try await lines {
            $0.accept = "image/png"
            $0.headers = [RequestHeader("Accept:")]
        }
        #expect(none.names.sorted() == ["Host", "User-Agent"], "a line without a value removes the header")
    }
}
