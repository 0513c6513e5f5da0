import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(1))) struct AddressDenialTests {
    @Test(arguments: [
        "127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    ])
    func dialsNothingOnThisMachineUnlessAllowed(host: String) async throws {
        let server = try HostileServer(["/a": .answer(body: [1])])
        let error = await TransferEngine(TransferConfiguration()).fetch("http://\(host):\(server.port)/a").error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        #expect(server.log.requests.isEmpty)
    }

    @Test(arguments: [
        "10.0.0.1", "192.168.1.1", "169.254.169.254", "[fe80::1]", "[fd00::1]", "224.0.0.1", "100.64.0.1",
    ])
    func dialsNothingPrivateUnlessAllowed(host: String) async {
        let error = await TransferEngine(TransferConfiguration()).fetch("http://\(host)/a").error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
    }

    @Test func followsNoRedirectToADeniedAddress() async throws {
        let denied = try HostileServer(["/secret": .answer(body: [1])])
        let server = try HostileServer([
            "/a": .redirect(to: "http://127.0.0.2:\(denied.port)/secret"), "/b": .answer(body: [2]),
        ])
        let policy = AddressPolicy(deniedIPv4: [.init(127, 0, 0, 2, 32)], deniesPrivateIPv6: true)
        let engine = TransferEngine(TransferConfiguration(), policy: policy)
        let error = await engine.fetch(server.url("/a")).error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
        #expect(error?.detail.contains("127.0.0.2") == true)
        #expect(server.log.requests == ["/a": 1])
        #expect(await engine.fetch(server.url("/b")).body == [2])
    }
}
