internal import CMicrohttpd

/// The header fields of a request.
struct RequestHeaders {
    private(set) var fields: [String: String] = [:]
    private(set) var repeated: Set<String> = []
    /// Whether a field that may occur only once is repeated.
    private(set) var isContradictory = false
    /// Whether a field has a name that is not valid, such as `Host ` (RFC 9110, section 5.6.2).
    private(set) var hasInvalidName = false

    private static let single: Set = [
        "host", "content-length", "content-type", "authorization", "origin", "transfer-encoding",
    ]

    /// - Parameter gaps: the gaps before the fields. The initializer adds the gaps between and after the fields.
    init(of connection: OpaquePointer, _ gaps: inout HeadGaps) {
        var reading = (headers: self, gaps: gaps)
        withUnsafeMutablePointer(to: &reading) { reading in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let context, let name else { return .YES }
                    let reading = context.assumingMemoryBound(to: (headers: RequestHeaders, gaps: HeadGaps).self)
                    reading.pointee.gaps.add(name, isNewLine: true)
                    if let value { reading.pointee.gaps.add(value) }
                    reading.pointee.headers.add(
                        String(cString: name).lowercased(), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, reading)
        }
        self = reading.headers
        gaps = reading.gaps
        gaps.end(darkroom_mhd_head_size(connection))
    }

    private static let nameCharacters = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    private mutating func add(_ name: String, _ value: String) {
        if name.isEmpty || !name.utf8.allSatisfy(Self.nameCharacters.contains) { hasInvalidName = true }
        if let earlier = fields[name] {
            repeated.insert(name)
            if Self.single.contains(name) { isContradictory = true }
            fields[name] = earlier + (name == "cookie" ? "; " : ", ") + value
        } else {
            fields[name] = value
        }
    }
}

/// Finds request heads that libmicrohttpd and a proxy may interpret differently.
///
/// libmicrohttpd 0.9 accepts the following heads, version 1.0 rejects them:
/// - a head with a NUL: the values are C strings, so the text after the NUL is missing;
/// - a line that ends with a LF without a CR;
/// - a CR without a LF, which becomes a part of the value.
///
/// The strings that libmicrohttpd returns are parts of one buffer, in which it has replaced separators with NULs. Such
/// heads can be recognized by the bytes between two strings:
/// - text other than separators: the client has sent the text after a NUL, or in a second line of the same field, which
///   a server may reject (RFC 9112, section 5.2);
/// - more NULs than separators: the client has sent a NUL;
/// - only one byte at the end of a line: the line ends with a CR alone or a LF alone.
struct HeadGaps {
    private(set) var areAmbiguous = false
    /// The NUL after the last string.
    private var last: UnsafePointer<UInt8>

    private var method: UnsafePointer<UInt8>?
    private let target: UnsafePointer<UInt8>

    /// - Parameter target: the target of the request, which is the second string of the head.
    init(_ target: UnsafeBufferPointer<UInt8>) {
        self.target = target.baseAddress!  // a C string has an address
        last = self.target + target.count
        check(target)
    }

    /// - Parameter method: the first string of the head, which precedes the target.
    mutating func add(method: UnsafePointer<CChar>) {
        method.withMemoryRebound(to: UInt8.self, capacity: 1) {
            self.method = $0
            check(from: Self.end(of: $0), to: target, lines: 0)
        }
    }

    /// - Parameters:
    ///   - text: the next string of the head.
    ///   - isNewLine: whether the string is the first string of a line.
    mutating func add(_ text: UnsafePointer<CChar>, isNewLine: Bool = false) {
        text.withMemoryRebound(to: UInt8.self, capacity: 1) { text in
            check(from: last, to: text, lines: isNewLine ? 1 : 0)
            last = Self.end(of: text)
            check(UnsafeBufferPointer(start: text, count: last - text))
        }
    }

    /// - Parameter size: the number of bytes of the head, from the method to the empty line.
    mutating func end(_ size: Int) {
        guard let method, size > 0 else { return }
        check(from: last, to: method + size, lines: 2)
    }

    private static func end(of text: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var end = text
        while end.pointee != 0 { end += 1 }
        return end
    }

    private mutating func check(_ text: UnsafeBufferPointer<UInt8>) {
        if text.contains(UInt8(ascii: "\r")) { areAmbiguous = true }
    }

    private static let most = 65_536

    /// - Parameter lines: the number of lines that end in the gap.
    private mutating func check(from end: UnsafePointer<UInt8>, to start: UnsafePointer<UInt8>, lines: Int) {
        let gap = UnsafeRawPointer(start) - UnsafeRawPointer(end)
        // Other versions of libmicrohttpd may return copies of the strings, which are not in this buffer.
        guard (1...Self.most).contains(gap) else { return }
        let separators: [UInt8] = [0, 9, 10, 13, 32, UInt8(ascii: ":")]
        let bytes = UnsafeBufferPointer(start: end, count: gap)
        let ends = lines * "\r\n".utf8.count
        if gap < ends || bytes.count(where: { $0 == 0 }) > max(1, ends) || !bytes.allSatisfy(separators.contains) {
            areAmbiguous = true
        }
    }
}
