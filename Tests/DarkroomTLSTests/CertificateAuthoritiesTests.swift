import CCurl
import CTLS
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

    @Test(arguments: [true, false]) func connectionsResumeSessions(isAllowed: Bool) throws {
        let authorities = CertificateAuthorities.of(certificates.authority)
        #expect(try page(authorities, resumes: isAllowed).contains("New, TLS"))
        #expect(try page(authorities, resumes: isAllowed).contains(isAllowed ? "Reused, TLS" : "New, TLS"))
    }

    @Test func sessionsOfTLS12AreResumed() throws {
        let old = try TLSServer([
            "-tls1_2", "-cert", certificates.certificate("server"), "-key", certificates.key("server"),
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
            sessions.keep(SSL_SESSION_new()!, of: "https://\(number).example")
            sessions.keep(SSL_SESSION_new()!, of: "https://\(number).example")
        }
        #expect(sessions.count == TLSSessions.limit)
        #expect(sessions.has("https://10.example") && !sessions.has("https://9.example"))
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
