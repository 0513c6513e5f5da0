import Glibc

/// An IP address. An IPv4-mapped IPv6 address (`::ffff:127.0.0.1`) becomes the IPv4 address, because the system
/// connects to that address.
enum IPAddress: Sendable, Hashable {
    /// The address in host byte order.
    case v4(UInt32)
    /// The two halves of the address in host byte order. The zone is omitted.
    case v6(UInt64, UInt64)

    /// Parses `192.0.2.1` or `2001:db8::1` (`inet_pton`). Rejects octal numbers, short IPv4 addresses and zones.
    init?(_ text: some StringProtocol) {
        var address4 = in_addr()
        var address6 = in6_addr()
        if inet_pton(AF_INET, String(text), &address4) == 1 {
            self = .v4(UInt32(bigEndian: address4.s_addr))
        } else if inet_pton(AF_INET6, String(text), &address6) == 1 {
            self.init(address6)
        } else {
            return nil
        }
    }

    /// Reads the socket address to which libcurl will connect. Returns nil for families other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self = UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            self = UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                IPAddress($0.pointee.sin6_addr)
            }
        default:
            return nil
        }
    }

    private init(_ address: in6_addr) {
        let (high, low) = withUnsafeBytes(of: address) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        let isMapped = high == 0 && low >> 32 == 0xffff
        self = isMapped ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high, low)
    }

    var bitCount: Int { if case .v4 = self { 32 } else { 128 } }

    /// Whether the first `count` bits of both addresses are equal. False for addresses of different families.
    func shares(_ count: Int, bitsWith other: IPAddress) -> Bool {
        switch (self, other) {
        // A shift by the whole width results in 0.
        case (.v4(let mine), .v4(let theirs)): (mine ^ theirs) >> (32 - count) == 0
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            (high ^ otherHigh) >> (64 - min(count, 64)) == 0 && (low ^ otherLow) >> (64 - max(count - 64, 0)) == 0
        default: false
        }
    }

    /// The IPv4 address to which a translator or tunnel forwards packets for this IPv6 address; nil if there is none.
    var embeddedIPv4: IPAddress? {
        guard case .v6(let high, let low) = self else { return nil }
        // NAT64, RFC 6052.
        if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return .v4(UInt32(truncatingIfNeeded: low)) }
        if high >> 48 == 0x2002 { return .v4(UInt32(truncatingIfNeeded: high >> 16)) }  // 6to4, RFC 3056
        // ISATAP, RFC 5214; the universal bit may be set.
        if low >> 32 & ~0x0200_0000 == 0x0000_5efe { return .v4(UInt32(truncatingIfNeeded: low)) }
        return nil
    }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let bits):
            var address = in_addr(s_addr: bits.bigEndian)
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        case .v6(let high, let low):
            var address = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
