import CCurl
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomTLS

@Suite(.timeLimit(.minutes(5))) struct CertificateAuthoritiesTests {
    let certificates: Certificates
    let server: TLSServer

    init() throws {
        certificates = try Certificates()
        server = try TLSServer(["-cert", certificates.certificate("server"), "-key", certificates.key("server")])
    }

    @Test func connectionsShareTheParsedFile() throws {
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, resumes: false).contains("New, TLS"))
        try FileManager.default.removeItem(atPath: certificates.authority)
        #expect(try page(.of(certificates.authority), resumes: false).contains("New, TLS"))
    }

    @Test func unusableFilesHaveAReason() throws {
        #expect(CertificateAuthorities.problem(of: certificates.authority) == nil)
        #expect(CertificateAuthorities.problem(of: "/nowhere")?.contains("no such file") == true)
        #expect(CertificateAuthorities.problem(of: certificates.folder) == "not a regular file")
        #expect(CertificateAuthorities.problem(of: "/dev/zero") == "not a regular file")
        #expect(CertificateAuthorities.problem(of: certificates.key("authority"))?.contains("PEM") == true)
        let large = certificates.folder + "/large.pem"
        try Data().write(to: URL(fileURLWithPath: large))
        #expect(CertificateAuthorities.problem(of: large)?.contains("PEM") == true)
        #expect(truncate(large, 1 << 30) == 0)
        #expect(CertificateAuthorities.problem(of: large) == "larger than 16 MiB")
    }

    @Test(arguments: [true, false]) func connectionsResumeSessions(isAllowed: Bool) throws {
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, resumes: isAllowed).contains("New, TLS"))
        #expect(try page(authorities, resumes: isAllowed).contains(isAllowed ? "Reused, TLS" : "New, TLS"))
    }

    /// Servers of TLS 1.2 keep sessions themselves, or give the client tickets.
    @Test(arguments: ["-no_ticket", "-no_cache"]) func sessionsOfTLS12AreResumed(kind: String) throws {
        let old = try TLSServer([
            "-tls1_2", kind, "-cert", certificates.certificate("server"), "-key", certificates.key("server"),
        ])
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, of: old, resumes: true).contains("New, TLSv1.2"))
        #expect(try page(authorities, of: old, resumes: true).contains("Reused, TLSv1.2"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func resumedSessionIsNoProofOfAName(version: String) throws {
        let server = try TLSServer([
            version, "-cert", certificates.certificate("server"), "-key", certificates.key("server"),
        ])
        let authorities = CertificateAuthorities.of(certificates.authority)
        _ = try page(authorities, of: server, resumes: true)
        for _ in 1...3 {
            #expect(throws: Failure(code: CURLE_PEER_FAILED_VERIFICATION)) {
                try page(authorities, of: server, resumes: true, host: "127.0.0.1")
            }
        }
    }

    /// URLs with different users name the same server and share one session, so that a list cannot fill the memory.
    @Test func sessionBelongsToTheHostAndThePort() throws {
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, resumes: true, host: "u:p@localhost").contains("New, TLS"))
        #expect(try page(authorities, resumes: true, host: "v@LOCALHOST").contains("Reused, TLS"))
        let other = try TLSServer(["-cert", certificates.certificate("server"), "-key", certificates.key("server")])
        #expect(try page(authorities, of: other, resumes: true).contains("New, TLS"))
    }

    /// A server that closes the connection because of a session gets a full handshake the next time.
    @Test func sessionThatAServerDoesNotAcceptIsForgotten() throws {
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, resumes: true).contains("New, TLS"))
        let port = server.port
        server.stop()
        let closing = try ClosingServer(port: port)
        for _ in 1...3 { #expect(throws: Failure.self) { try page(authorities, resumes: true) } }
        // The first greeting contains the session.
        let sizes = closing.stop()
        #expect(sizes.count == 3 && sizes[0] > sizes[1] && sizes[1] == sizes[2], "\(sizes)")
    }

    /// A server may send up to 100 KB of certificates that the client does not need. They are not a part of the kept
    /// session: a session of more than 8 KB would not be kept, and so not resumed.
    @Test func sessionsOfLongChainsAreSmall() throws {
        let chain = certificates.folder + "/chain.pem"
        let one = try String(contentsOfFile: certificates.certificate("server"), encoding: .utf8)
        try String(repeating: one, count: 60).write(toFile: chain, atomically: true, encoding: .utf8)
        let server = try TLSServer([
            "-cert", certificates.certificate("server"), "-key", certificates.key("server"), "-cert_chain", chain,
        ])
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, of: server, resumes: true).contains("New, TLS"))
        #expect(try page(authorities, of: server, resumes: true).contains("Reused, TLS"))
    }

    @Test func damagedFileIsReadOnce() throws {
        try "-----BEGIN CERTIFICATE-----\nnonsense\n".write(
            toFile: certificates.authority, atomically: true, encoding: .utf8)
        let authorities = CertificateAuthorities(certificates.authority, checkInterval: .zero)
        for _ in 1...3 {
            #expect(throws: Failure(code: CURLE_SSL_CACERT_BADFILE)) { try page(authorities, resumes: false) }
        }
        #expect(authorities.readings == 1)
    }

    @Test func changedFileIsReadAgain() throws {
        let authorities = CertificateAuthorities(certificates.authority, checkInterval: .zero)
        _ = try page(authorities, resumes: true)
        let others = try Certificates()
        try Data(contentsOf: URL(fileURLWithPath: others.authority))
            .write(to: URL(fileURLWithPath: certificates.authority), options: .atomic)
        // The sessions of the old authorities are not resumed either.
        #expect(throws: Failure(code: CURLE_PEER_FAILED_VERIFICATION)) { try page(authorities, resumes: true) }
        let second = try TLSServer(["-cert", others.certificate("server"), "-key", others.key("server")])
        #expect(try page(authorities, of: second, resumes: true).contains("New, TLS"))
    }

    @Test func unreadableFileIsNotUsedInPlaceOfTheLastOne() throws {
        let authorities = CertificateAuthorities(certificates.authority, checkInterval: .zero)
        _ = try page(authorities, resumes: false)
        let text = try String(contentsOfFile: certificates.authority, encoding: .utf8)
        try text.dropLast(100).write(toFile: certificates.authority, atomically: true, encoding: .utf8)
        #expect(try page(authorities, resumes: false).contains("New, TLS"))
    }

    @Test func missingFileIsReported() throws {
        let path = certificates.folder + "/none.pem"
        let failure = expectError(Failure.self) { try page(.of(path), resumes: false) }
        #expect(failure?.code == CURLE_SSL_CACERT_BADFILE)
        #expect(failure?.text.contains(path) == true)
    }

    /// Those of the system are not trusted where a file of authorities is named.
    @Test func onlyTheNamedAuthoritiesAreTrusted() throws {
        let others = try Certificates()
        #expect(throws: Failure(code: CURLE_PEER_FAILED_VERIFICATION)) {
            try page(.of(others.authority), resumes: true)
        }
        #expect(throws: Failure(code: CURLE_PEER_FAILED_VERIFICATION)) { try page(.of(nil), resumes: true) }
    }

    @Test func numberOfSessionsIsBounded() {
        let sessions = TLSSessions()
        for number in 0..<TLSSessions.limit + 10 {
            sessions.keep([1], of: "\(number).example:443")
            sessions.keep([2], of: "\(number).example:443")
        }
        #expect(sessions.count == TLSSessions.limit)
        #expect(sessions.has("10.example:443") && !sessions.has("9.example:443"))
        sessions.keep([UInt8](repeating: 0, count: TLSSessions.maxBytes + 1), of: "large.example:443")
        #expect(!sessions.has("large.example:443") && sessions.count == TLSSessions.limit)
    }

    private struct Failure: Error, Equatable {
        let code: CURLcode
        var text = ""

        static func == (first: Failure, second: Failure) -> Bool { first.code == second.code }
    }

    /// Gets the server's page over a new connection.
    @discardableResult private func page(
        _ authorities: CertificateAuthorities, of other: TLSServer? = nil, resumes: Bool, host: String = "localhost"
    ) throws -> String {
        let curl = try #require(curl_easy_init())
        defer { curl_easy_cleanup(curl) }
        let page = NSMutableData()
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        defer { text.deallocate() }
        text.pointee = 0
        darkroom_curl_easy_setopt_string(curl, CURLOPT_URL, "https://\(host):\((other ?? server).port)/")
        darkroom_curl_easy_setopt_string(curl, CURLOPT_PROXY, "")
        darkroom_curl_easy_setopt_long(curl, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_ERRORBUFFER, text)
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_WRITEDATA, Unmanaged.passUnretained(page).toOpaque())
        darkroom_curl_easy_setopt_write_callback(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, page in
            Unmanaged<NSMutableData>.fromOpaque(page!).takeUnretainedValue().append(bytes!, length: size * count)
            return size * count
        }
        authorities.apply(to: curl, resumesSessions: resumes)
        let code = withExtendedLifetime(page) { curl_easy_perform(curl) }
        guard code == CURLE_OK else { throw Failure(code: code, text: String(cString: text)) }
        return String(decoding: page as Data, as: UTF8.self)
    }
}
