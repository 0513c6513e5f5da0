import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
    @Test func trustsNoSelfSignedCertificate() async throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url
        let request = try openssl(
            "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
                + "-keyout key.pem -out certificate.pem", in: folder)
        _ = try request.readToEnd()  // ends when openssl does

        let server = try TLSServer([
            "-cert", folder.path + "/certificate.pem", "-key", folder.path + "/key.pem",
        ])
        let url = "https://127.0.0.1:\(server.port)/"
        let error = await TransferEngine(.local { $0.retries = 3 }).fetch(url).error
        #expect(error?.code == .tlsFailed, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        guard case .failure(let refused) = await WebPostTests.post("{}", to: url) else {
            Issue.record("a post accepted a self-signed certificate")
            return
        }
        #expect(refused.code == .tlsFailed)
    }

    /// Each connection is a new one, because the server closes it after its page.
    @Test func connectionsResumeSessions() async throws {
        let certificates = try Certificates()
        let server = try TLSServer(["-cert", certificates.certificate("server"), "-key", certificates.key("server")])
        let engine = TransferEngine(.local { $0.authorities = certificates.authority })
        for expected in ["New, TLS", "Reused, TLS", "Reused, TLS"] {
            let page = try await engine.fetch("https://localhost:\(server.port)/").get()
            #expect(String(decoding: page.body, as: UTF8.self).contains(expected))
        }
        let error = await engine.fetch("https://127.0.0.1:\(server.port)/").error
        #expect(error?.code == .tlsFailed, "the certificate is for another host: \(error?.detail ?? "no error")")
    }

    private func openssl(_ arguments: String, in folder: URL) throws -> FileHandle {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return pipe.fileHandleForReading
    }
}
