import DarkroomText
internal import Glibc

/// An address on which a server listens: an IP address and a port.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 or IPv6 address.
    package let host: String
    /// The port; 0 for a port that the system chooses.
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `192.0.2.1:8080`, `[2001:db8::1]:8080` or `localhost:8080`. `8080` and `:8080` mean the loopback address
    /// with this port; an address without a port gets the port `defaultPort`. Returns nil for any other text.
    package init?(_ text: String, defaultPort: UInt16) {
        guard !text.isEmpty else { return nil }
        let (host, port): (Substring, Substring?)
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            (host, port) = (text.dropFirst()[..<end], rest.isEmpty ? nil : rest.dropFirst())
            guard host.contains(":") else { return nil }
        } else if let colon = text.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
            guard !host.contains(":") else { return nil }
        } else {
            (host, port) = text.allSatisfy(\.isNumber) ? ("", text[...]) : (text[...], nil)
        }
        guard let number = port.map({ UInt16($0) }) ?? defaultPort else { return nil }
        self.host = host.isEmpty || host == "localhost" ? "127.0.0.1" : String(host)
        self.port = number
        guard SocketAddress(host: self.host, port: number) != nil else { return nil }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether the server listens on every address of this machine.
    package var isEveryAddress: Bool { host == "0.0.0.0" || host == "::" }

    /// Whether only programs on this machine can connect.
    package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// Opens a listening socket.
    /// - Returns: the socket, and the address with the port that the system chose.
    func listen() throws(HTTPServerError) -> (socket: Int32, bound: ListenAddress) {
        guard var address = SocketAddress(host: host, port: port) else {
            throw HTTPServerError("cannot listen on \(self): it is not an IP address")
        }
        let socket = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw HTTPServerError("cannot listen on \(self): \(systemErrorText())") }
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard address.withPointer({ bind(socket, $0, $1) }) == 0, Glibc.listen(socket, 1024) == 0 else {
            let why = systemErrorText()
            close(socket)
            throw HTTPServerError("cannot listen on \(self): \(why); choose another address or port")
        }
        let bound = SocketAddress(of: socket)
        return (socket, ListenAddress(host: host, port: bound?.port ?? port))
    }
}

/// The text of an IP address.
package enum IPAddress {
    /// The usual spelling of an address, so that addresses can be compared; nil if the text is not an IP address. An IPv4
    /// address in the form for IPv6 sockets, such as `::ffff:192.0.2.1`, becomes `192.0.2.1`.
    package static func canonical(_ text: String) -> String? {
        guard var address = SocketAddress(host: text, port: 0) else { return nil }
        let canonical = address.withPointer { address, _ in SocketAddress.text(of: address) }
        let mapped = "::ffff:"
        guard canonical.hasPrefix(mapped), canonical.contains(".") else { return canonical }
        return String(canonical.dropFirst(mapped.count))
    }
}

/// The network of a client: its IPv4 address, or the first 64 bits of its IPv6 address, because one client usually has
/// all addresses with these bits.
package struct ClientNetwork: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Returns nil if the text is not an IP address.
    package init?(_ text: String) {
        guard var address = SocketAddress(host: text, port: 0),
            let network = address.withPointer({ address, _ in ClientNetwork(address) })
        else { return nil }
        self = network
    }

    init?(_ address: UnsafePointer<sockaddr>) {
        let storage = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let four = storage.load(as: sockaddr_in.self).sin_addr
            bytes = withUnsafeBytes(of: four) { Array($0) }
        case AF_INET6:
            let all = withUnsafeBytes(of: storage.load(as: sockaddr_in6.self).sin6_addr) { Array($0) }
            // An IPv4 address in the form for IPv6 sockets, such as ::ffff:192.0.2.1.
            let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 255 && all[11] == 255
            bytes = isMapped ? Array(all[12...]) : Array(all[..<8])
        default: return nil
        }
    }
}

/// A socket address of the system.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    var family: Int32 { Int32(storage.ss_family) }

    init?(host: String, port: UInt16) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        memcpy(&storage, first.ai_addr, Int(first.ai_addrlen))
        length = first.ai_addrlen
    }

    /// The address to which a socket is bound.
    init?(of socket: Int32) {
        var bound = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard status == 0 else { return nil }
        storage = bound
        self.length = length
    }

    var port: UInt16 {
        // The port is at the same place in sockaddr_in and sockaddr_in6.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }

    mutating func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let length = length
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The IP address as text, excluding the port.
    static func text(of address: UnsafePointer<sockaddr>) -> String {
        let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "" }
        return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
