import Glibc
import Testing

@testable import DarkroomTransfer

@Suite struct AddressPolicyTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        "::", "::1", "::7f00:1", "::808:808", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:0:192.168.1.1",
        "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:0:0:1::808:808", "64:ff9b:1::808:808", "64:ff9b:1:ffff::a00:1",
        "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1",
        "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "3fff:fff::1", "5f00::1", "2606:4700::5efe:7f00:1",
        "2606:4700::200:5efe:a9fe:a9fe", "fbff::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1",
        "fec0::1", "ff02::1", "100::1", "4000::1", "8000::1",
    ])
    func deniesAddressesOutsideThePublicInternet(address: String) throws {
        #expect(try isAllowed(address, by: .publicInternet()) == false)
        #expect(try isAllowed(address, by: .everything))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
        "169.253.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.0.3.1", "192.167.1.1", "192.169.1.1",
        "198.17.255.255", "198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
        "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2606:4700::5efe:808:808", "2a00:1450:4001::1",
        "3ffe:ffff::1",
    ])
    func allowsThePublicInternet(address: String) throws {
        #expect(try isAllowed(address, by: .publicInternet()))
    }

    @Test(arguments: [
        ("10.1.0.0/16", "10.1.255.255", "10.2.0.1"), ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
        ("10.1.0.0/16", "::ffff:10.1.2.3", "::ffff:10.2.2.3"), ("::ffff:10.1.0.0/112", "10.1.2.3", "10.2.2.3"),
        ("fd00:1::/32", "fd00:1::7", "fd00:2::7"), ("::1/128", "::1", "::2"),
        // The NAT64 form of an address is not in the network of the address; it must be allowed separately.
        ("10.1.0.0/16", "10.1.0.1", "64:ff9b::a01:1"), ("64:ff9b::a01:0/112", "64:ff9b::a01:1", "10.1.0.1"),
        ("0.0.0.0/0", "169.254.169.254", "fd00:ec2::254"), ("::/0", "fd00:ec2::254", "::ffff:169.254.169.254"),
    ])
    func onlyTheGivenNetworkIsAllowed(network: String, within: String, outside: String) throws {
        let policy = AddressPolicy.publicInternet(and: [try NetworkRange(parsing: network)])
        #expect(try isAllowed(within, by: policy))
        #expect(try isAllowed(outside, by: policy) == false)
        #expect(try isAllowed("8.8.8.8", by: policy))
    }

    @Test func deniesOtherFamilies() {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        #expect(!AddressPolicy.everything.allows(&address))
    }

    /// Checks a socket address, as libcurl passes it.
    private func isAllowed(_ text: String, by policy: AddressPolicy) throws -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(text, nil, &hints, &found) == 0)
        defer { freeaddrinfo(found) }
        return policy.allows(try #require(found).pointee.ai_addr)
    }
}

@Suite struct NetworkRangeTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("192.0.2.7", "192.0.2.7/32"), ("0.0.0.0/0", "0.0.0.0/0"),
        ("FD00::/8", "fd00::/8"), ("::1", "::1/128"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("2001:db8::/127", "2001:db8::/127"),
    ])
    func readsNetworks(text: String, meaning: String) throws {
        #expect(try NetworkRange(parsing: text).description == meaning)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/0x8",
        "10.0.0/8",
        "10.0.0.1/8", "010.0.0.0/8", "0x0a.0.0.0/8", "10.0.0.0 /8", " 10.0.0.0/8", "fd00::/129", "fd00::1/64",
        "fe80::%lo/64",
        "[::1]", "::ffff:10.0.0.0/64", "example.org", "10.0.0.0/8,fd00::/8", "*",
    ])
    func refusesInvalidNetworks(text: String) {
        #expect(throws: InvalidNetworkRange.self) { try NetworkRange(parsing: text) }
    }
}

extension AddressPolicy {
    /// Whether a connection to the socket address is allowed; always false for families other than IPv4 and IPv6.
    fileprivate func allows(_ address: UnsafePointer<sockaddr>) -> Bool { IPAddress(address).map(allows) ?? false }
}
