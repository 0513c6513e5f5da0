/// Decides to which addresses connections are allowed.
///
/// The callbacks of libcurl check the address of a connection when its socket is opened, and again before each request.
/// Therefore the check covers redirects, names that resolve differently at each lookup, reused connections, and unusual
/// spellings of an address (`0x7f.1`, `2130706433`).
struct AddressPolicy: Sendable {
    /// The networks to which connections are denied. A denied IPv4 network also includes the IPv6 addresses that reach
    /// this network through a translator or a tunnel.
    let denied: [NetworkRange]
    /// The networks to which connections are allowed although `denied` contains them.
    let allowed: [NetworkRange]

    static let everything = AddressPolicy(denied: [], allowed: [])

    /// Allows the addresses of the public internet, and the addresses in `allowed`.
    static func publicInternet(and allowed: [NetworkRange] = []) -> AddressPolicy {
        AddressPolicy(denied: specialNetworks, allowed: allowed)
    }

    /// All networks outside the unicast addresses of the public internet (RFC 6890 and the IANA special-purpose
    /// registries).
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
        // Of the IPv6 addresses, only 2000::/3 is assigned for unicast. The other addresses are ::, ::1,
        // IPv4-compatible, local NAT64, discard, segment routing, unique local (clouds also keep metadata there),
        // link-local, site-local, multicast, or unassigned.
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  // protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  // documentation
        "3fff::/20",  // documentation
    ].map(NetworkRange.init(constant:))

    func allows(_ address: IPAddress) -> Bool {
        if allowed.contains(where: { $0.contains(address) }) { return true }
        guard let embedded = address.embeddedIPv4 else { return !isDenied(address) }
        if isDenied(embedded) { return false }
        return !isDenied(address) || Self.translated.contains(address)
    }

    /// The NAT64 prefix for the whole IPv4 internet (RFC 6052). It is not part of 2000::/3.
    private static let translated = NetworkRange(constant: "64:ff9b::/96")

    private func isDenied(_ address: IPAddress) -> Bool { denied.contains { $0.contains(address) } }
}
