/// The addresses of a network: `10.0.0.0/8`, `fd00::/8`, or a single one, `192.0.2.7` (RFC 4632, section 3.1).
package struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    private let address: IPAddress
    private let length: Int

    /// Reads an address written in full, a slash and the number of bits that count; without these two it is that address alone.
    ///
    /// `::ffff:10.0.0.0/104` is `10.0.0.0/8`: what is dialled is the same.
    /// - Throws: ``InvalidNetworkRange``, also where bits behind those that count are set, since then it is not clear what is meant.
    package init(parsing text: String) throws(InvalidNetworkRange) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else {
            throw InvalidNetworkRange(text: text, problem: "no address, write it in full, as 10.0.0.0/8 or fd00::/8")
        }
        // An IPv4 address that is written as an IPv6 one counts its bits from there.
        let offset = first.contains(":") ? 128 - address.bitCount : 0
        var length = address.bitCount
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
                let bits = Int(parts[1]), (offset...offset + address.bitCount).contains(bits)
            else {
                throw InvalidNetworkRange(
                    text: text,
                    problem: "\"\(parts[1])\" is no number of bits from \(offset) to \(offset + address.bitCount)")
            }
            length = bits - offset
        }
        self.init(address, length)
        guard self.address == address else {
            throw InvalidNetworkRange(text: text, problem: "bits behind the first \(length) are set; write \(self)")
        }
    }

    /// The network of `address` whose first `length` bits count.
    private init(_ address: IPAddress, _ length: Int) {
        switch address {
        case .v4(let bits):
            self.address = .v4(bits & ~(UInt32.max >> length))
        case .v6(let high, let low):
            self.address = .v6(high & ~(UInt64.max >> min(length, 64)), low & ~(UInt64.max >> max(length - 64, 0)))
        }
        self.length = length
    }

    /// Whether `address` is of this network.
    func contains(_ address: IPAddress) -> Bool { self.address.shares(length, bitsWith: address) }

    /// As it is read.
    package var description: String { "\(address)/\(length)" }
}

/// A text that names no network.
package struct InvalidNetworkRange: Error, CustomStringConvertible {
    /// What was given.
    package let text: String
    /// What is wrong with it and how it is written.
    package let problem: String

    /// One line of both.
    package var description: String { "network \"\(text)\": \(problem)" }
}
