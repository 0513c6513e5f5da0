import DarkroomTestSupport
import Testing

@testable import DarkroomHTTP

/// Heads that a proxy could read otherwise than libmicrohttpd.
extension HTTPServerTests {
    @Test func connectionIsClosedAfterAChunkedBody() throws {
        let client = try RawClient(port: server.address.port)
        client.send("POST /memory HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\r\nabc\r\n0\r\n\r\n")
        client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = client.read()
        #expect(response.contains("Connection: close"))
        #expect(response.components(separatedBy: "HTTP/1.1 ").count == 2)
    }

    @Test(arguments: [
        "GET /echo HTTP/1.1\r\nHost: a\u{0}b", "GET /echo HTTP/1.1\r\nHost: a\r\nX: \u{0}a",
        "GET /echo HTTP/1.1\r\nHost: a\r\nX\u{0}Y: 1", "GET /echo\u{0}a HTTP/1.1\r\nHost: a",
        "GET /echo?a\u{0}b=1 HTTP/1.1\r\nHost: a", "GET\u{0}a /echo HTTP/1.1\r\nHost: a",
        "GET /echo HTTP/1.1\u{0}a\r\nHost: a", "GET /echo HTTP/1.1\r\nHost: a\r\nCookie: a=b\u{0}\u{0}; c=d",
        "GET /echo HTTP/1.1\r\nHost: a\u{0}\u{0}b", "GET /echo HTTP/1.1\r\nHost: a\u{0} b",
        "GET /echo HTTP/1.1\r\nHost: a\u{0}\u{0}\u{0}\u{0}b", "GET /echo HTTP/1.1\r\nHost: a\r\n b",
        "GET /echo HTTP/1.1\r\nHost: a\u{0}", "GET /echo HTTP/1.1\r\nHost: a\r\nX: \u{0}",
        "GET /echo HTTP/1.1\r\nHost: a\u{0}\r\nX: b", "GET /echo HTTP/1.1\u{0}\r\nHost: a",
        "GET /echo HTTP/1.1\r\nHost: a\rX: b", "GET /echo HTTP/1.1\rHost: a", "GET /echo HTTP/1.1\r\nX: a\r\rHost: b",
        "GET /echo HTTP/1.1\r\nHost: a\nX: b", "GET /echo HTTP/1.1\nHost: a", "GET /echo\rX HTTP/1.1\r\nHost: a",
        "GET /echo HTTP/1.1\r\nHost: a\r",
    ])
    func headThatAProxyMayReadOtherwiseIsRefused(head: String) throws {
        for end in ["\r\nConnection: close", ""] {
            let client = try RawClient(port: server.address.port)
            client.send(head + end + "\r\n\r\n")
            let response = client.read()
            #expect(response.isEmpty || response.hasPrefix("HTTP/1.1 400"), "\(response)")
        }
    }

    @Test(arguments: [
        "GET /echo HTTP/1.1\r\nHost: a \r\nX:\r\nY:   \r\nCookie: a=b; c\r\n\r\n", "GET /echo HTTP/1.0\r\n\r\n",
        "GET /echo?a=b&c HTTP/1.1\r\nHost: a\r\n\r\nGET /echo",
    ])
    func otherHeadsAreAccepted(head: String) throws {
        let client = try RawClient(port: server.address.port)
        client.send(head)
        #expect(client.read(until: "\n").hasPrefix("HTTP/1.1 200"))
    }
}
