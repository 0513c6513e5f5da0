/// The addresses of a network, `10.0.0.0/8` or `fd00::/8`, or a single address, `192.0.2.7` (RFC 4632, section 3.1).
package struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    private let address: IPAddress
    private let length: Int

    /// Parses a complete address, optionally followed by a slash and the length of the prefix in bits. Without a prefix
    /// length, the range is the single address.
    ///
    /// `::ffff:10.0.0.0/104` is read as `10.0.0.0/8`, because the system connects to the same addresses.
    /// - Throws: ``InvalidNetworkRange`` if the text is not a range, or if bits after the prefix are set. Such bits are
    ///   an error because they do not show which network is meant.
    package init(parsing text: String) throws(InvalidNetworkRange) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else {
            throw InvalidNetworkRange(text: text, problem: "no address; write it in full, like 10.0.0.0/8 or fd00::/8")
        }
        // The prefix length of an IPv4-mapped IPv6 address includes the 96 bits before the IPv4 address.
        let offset = first.contains(":") ? 128 - address.bitCount : 0
        var length = address.bitCount
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
                let bits = Int(parts[1]), (offset...offset + address.bitCount).contains(bits)
            else {
                throw InvalidNetworkRange(
                    text: text,
                    problem: "\"\(parts[1])\" is not a number of bits from \(offset) to \(offset + address.bitCount)")
            }
            length = bits - offset
        }
        self.init(address, length)
        guard self.address == address else {
            throw InvalidNetworkRange(text: text, problem: "bits after the first \(length) are set; write \(self)")
        }
    }

    /// A network that is written in the source code. Ends the process if the text is invalid.
    init(constant text: String) {
        do throws(InvalidNetworkRange) { try self.init(parsing: text) } catch { fatalError("\(error)") }
    }

    /// The network of `address` with a prefix of `length` bits.
    private init(_ address: IPAddress, _ length: Int) {
        switch address {
        case .v4(let bits):
            self.address = .v4(bits & ~(UInt32.max >> length))
        case .v6(let high, let low):
            self.address = .v6(high & ~(UInt64.max >> min(length, 64)), low & ~(UInt64.max >> max(length - 64, 0)))
        }
        self.length = length
    }

    func contains(_ address: IPAddress) -> Bool { self.address.shares(length, bitsWith: address) }

    package var description: String { "\(address)/\(length)" }
}

package struct InvalidNetworkRange: Error, CustomStringConvertible {
    package let text: String
    package let problem: String

    package var description: String { "network \"\(text)\": \(problem)" }
}
