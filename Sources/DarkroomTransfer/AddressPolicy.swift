import Glibc

/// Which addresses may be dialled.
///
/// Asked with the address itself, when its socket is opened and again before each request: so redirects, names that resolve
/// differently from one lookup to the next, connections that are used again and odd spellings of an address (`0x7f.1`,
/// `2130706433`) are all covered.
struct AddressPolicy: Sendable {
    /// Networks that are not dialled. IPv4 networks count for addresses that lead to them through a translator or a tunnel, too.
    let denied: [NetworkRange]
    /// Networks that are dialled although they are denied.
    let allowed: [NetworkRange]

    static let everything = AddressPolicy(denied: [], allowed: [])

    /// Only the public internet and `allowed`.
    static func publicInternet(and allowed: [NetworkRange] = []) -> AddressPolicy {
        AddressPolicy(denied: specialNetworks, allowed: allowed)
    }

    /// What is no unicast address of the public internet (RFC 6890 and the IANA special-purpose registries).
    private static let specialNetworks = [
        "0.0.0.0/8",  // this network
        "10.0.0.0/8",  // private
        "100.64.0.0/10",  // carrier-grade NAT
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local, where clouds keep their metadata
        "172.16.0.0/12",  // private
        "192.0.0.0/24",  // protocol assignments
        "192.0.2.0/24",  // documentation
        "192.88.99.0/24",  // relays of 6to4, no longer in use
        "192.168.0.0/16",  // private
        "198.18.0.0/15",  // benchmarks of networks
        "198.51.100.0/24",  // documentation
        "203.0.113.0/24",  // documentation
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4",  // reserved, broadcast
        // Only 2000::/3 is given out for unicast: what lies below and above is ::, ::1, IPv4-compatible, NAT64 of one's
        // own network, discard, segment routing, unique local (where clouds keep their metadata, too), link-local,
        // site-local, multicast, or nobody's yet.
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  // protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  // documentation
        "3fff::/20",  // documentation
    ].map { text in
        // The texts are the constants above: an invalid one is an error of this file, which every test meets.
        do throws(InvalidNetworkRange) { return try NetworkRange(parsing: text) } catch { fatalError("\(error)") }
    }

    /// Whether `address` may be dialled.
    func allows(_ address: IPAddress) -> Bool {
        if allowed.contains(where: { $0.contains(address) }) { return true }
        guard let embedded = address.embeddedIPv4 else { return !isDenied(address) }
        if isDenied(embedded) { return false }
        return !isDenied(address) || Self.translated.contains(address)
    }

    /// Where an IPv6 network translates for the whole IPv4 internet (RFC 6052); it lies outside of 2000::/3.
    private static let translated: NetworkRange = {
        do throws(InvalidNetworkRange) {
            return try NetworkRange(parsing: "64:ff9b::/96")
        } catch {
            fatalError("\(error)")
        }
    }()

    private func isDenied(_ address: IPAddress) -> Bool { denied.contains { $0.contains(address) } }

    /// Whether the socket address may be dialled; no other family than IPv4 and IPv6 may.
    func allows(_ address: UnsafePointer<sockaddr>) -> Bool { IPAddress(address).map(allows) ?? false }
}
