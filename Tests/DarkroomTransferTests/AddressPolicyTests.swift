import Glibc
import Testing

@testable import DarkroomTransfer

@Suite struct AddressPolicyTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "198.18.0.1", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "::ffff:0:192.168.1.1", "64:ff9b::a00:1", "64:ff9b:1::808:808", "2002:7f00:1::", "2001:0:1::1", "fc00::1",
        "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1",
    ])
    func deniesWhatIsNotOfThePublicInternet(address: String) throws {
        #expect(try isAllowed(address, by: .publicInternet) == false)
        #expect(try isAllowed(address, by: .everything))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
        "169.253.1.1", "172.15.255.255", "172.32.0.1", "192.167.1.1", "192.169.1.1", "223.255.255.255",
        "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2606:4700::1111", "2a00:1450:4001::1", "fbff::1",
    ])
    func allowsThePublicInternet(address: String) throws {
        #expect(try isAllowed(address, by: .publicInternet))
    }

    @Test func deniesOtherFamilies() {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        #expect(!AddressPolicy.everything.allows(&address))
    }

    /// Asks with a socket address, as libcurl does.
    private func isAllowed(_ text: String, by policy: AddressPolicy) throws -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(text, nil, &hints, &found) == 0)
        defer { freeaddrinfo(found) }
        return policy.allows(try #require(found).pointee.ai_addr)
    }
}
