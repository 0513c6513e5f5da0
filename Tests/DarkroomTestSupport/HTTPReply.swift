/// A response that a raw client has received.
package struct HTTPReply: Sendable {
    package let status: Int
    /// By name in lower case; the last value of a repeated field.
    package let headers: [String: String]
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// Parses a response whose end is the end of the connection, or its declared length. Returns nil if there is none.
    package init?(_ bytes: [UInt8]) {
        guard let end = Self.endOfHead(bytes) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        self.status = status
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            headers[parts[0].lowercased()] = parts.count < 2 ? "" : String(parts[1].drop { $0 == " " })
        }
        self.headers = headers
        let rest = bytes[(end + 4)...]
        body = headers["transfer-encoding"] == "chunked" ? Self.joined(rest) : Array(rest)
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        return bytes.indices.dropLast(3).first { bytes[$0] == mark[0] && bytes[$0..<$0 + 4].elementsEqual(mark) }
    }

    private static func joined(_ chunks: ArraySlice<UInt8>) -> [UInt8] {
        var rest = chunks, body: [UInt8] = []
        while let line = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<line], as: UTF8.self), radix: 16), size > 0
        {
            let content = rest[(line + 2)...].prefix(size)
            body += content
            rest = rest.dropFirst(content.endIndex + 2 - rest.startIndex)
        }
        return body
    }
}

extension RawClient {
    /// Sends a request that ends the connection, and reads its response; nil if there is none.
    package static func reply(
        _ method: String, _ target: String, port: UInt16, headers: [String: String] = [:], body: [UInt8] = []
    ) throws -> HTTPReply? {
        let client = try RawClient(port: port)
        var fields = ["Host": "127.0.0.1:\(port)", "Connection": "close"].merging(headers) { $1 }
        if !body.isEmpty || method == "POST" || method == "PUT" { fields["Content-Length"] = "\(body.count)" }
        let head = "\(method) \(target) HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.sorted().joined() + "\r\n"
        client.send(Array(head.utf8) + body)
        return HTTPReply(client.readBytes())
    }
}
