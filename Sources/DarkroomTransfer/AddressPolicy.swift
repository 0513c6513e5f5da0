internal import CCurl
import Glibc

/// Which addresses may be dialled.
///
/// Asked with the address itself, when its socket is opened: so redirects, names that resolve differently from one lookup to
/// the next and odd spellings of an address (`0x7f.1`, `2130706433`) are all covered.
struct AddressPolicy: Sendable {
    /// The addresses that begin with the first `length` bits of `prefix`, which is left-aligned.
    struct Range: Sendable {
        let prefix: UInt32
        let length: Int

        init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ length: Int) {
            prefix = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
            self.length = length
        }

        func contains(_ address: UInt32) -> Bool { (address ^ prefix) >> (32 - length) == 0 }
    }

    /// Denied IPv4 ranges, which count in every IPv6 address that stands for an IPv4 one too.
    let deniedIPv4: [Range]
    /// Whether IPv6 addresses outside the public internet are denied.
    let deniesPrivateIPv6: Bool

    static let everything = AddressPolicy(deniedIPv4: [], deniesPrivateIPv6: false)

    /// Only the public internet (RFC 6890 and the IANA special-purpose registries).
    static let publicInternet = AddressPolicy(
        deniedIPv4: [
            Range(0, 0, 0, 0, 8),  // this network
            Range(10, 0, 0, 0, 8),  // private
            Range(100, 64, 0, 0, 10),  // carrier-grade NAT
            Range(127, 0, 0, 0, 8),  // loopback
            Range(169, 254, 0, 0, 16),  // link-local, where clouds keep their metadata
            Range(172, 16, 0, 0, 12),  // private
            Range(192, 0, 0, 0, 24),  // protocol assignments
            Range(192, 168, 0, 0, 16),  // private
            Range(198, 18, 0, 0, 15),  // benchmarks of networks
            Range(224, 0, 0, 0, 4),  // multicast
            Range(240, 0, 0, 0, 4),  // reserved, broadcast
        ],
        deniesPrivateIPv6: true)

    /// Whether the IPv4 address `address`, in host byte order, may be dialled.
    func allows(ipv4 address: UInt32) -> Bool { !deniedIPv4.contains { $0.contains(address) } }

    /// Whether the IPv6 address of these halves, in host byte order, may be dialled.
    func allows(ipv6 high: UInt64, _ low: UInt64) -> Bool {
        let lowest = UInt32(truncatingIfNeeded: low)
        if high == 0 && (low >> 32 == 0 || low >> 32 == 0xffff) {  // ::, ::1, ::/96 compatible, ::ffff:0:0/96 mapped
            return allows(ipv4: lowest)
        }
        if high == 0 && low >> 48 == 0xffff { return allows(ipv4: lowest) }  // ::ffff:0:0:0/96, SIIT
        if high == 0x0064_ff9b_0000_0000 && low >> 32 == 0 { return allows(ipv4: lowest) }  // 64:ff9b::/96, NAT64
        if high >> 48 == 0x2002 { return allows(ipv4: UInt32(truncatingIfNeeded: high >> 16)) }  // 6to4
        guard deniesPrivateIPv6 else { return true }
        return
            !(high >> 57 == 0xfc >> 1  // fc00::/7, unique local
            || high >> 54 == 0xfe80 >> 6  // fe80::/10, link-local
            || high >> 54 == 0xfec0 >> 6  // fec0::/10, once site-local
            || high >> 56 == 0xff  // multicast
            || high >> 16 == 0x0064_ff9b_0001  // NAT64 of one's own network
            || high == 0x0100_0000_0000_0000  // discard
            || high >> 32 == 0x2001_0000)  // Teredo
    }

    /// Whether the socket address, as libcurl is about to dial it, may be dialled; no other family than IPv4 and IPv6 may.
    func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                allows(ipv4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) {
                    allows(
                        ipv6: UInt64(bigEndian: $0.load(as: UInt64.self)),
                        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
                }
            }
        default:
            return false
        }
    }

    /// The address in numbers, for error messages.
    static func text(_ address: UnsafePointer<sockaddr>, length: UInt32) -> String {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(address, length, &buffer, UInt32(buffer.count), nil, 0, NI_NUMERICHOST)
        return status == 0 ? buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } : "an unknown address"
    }
}
