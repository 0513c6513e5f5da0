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
        _ = try request.output.readToEnd()  // ends when openssl does

        let server = try openssl("s_server -accept 127.0.0.1:0 -cert certificate.pem -key key.pem -www", in: folder)
        // Sends SIGKILL, because the child inherits a signal mask that may block SIGTERM.
        defer { kill(server.process.processIdentifier, SIGKILL) }
        var output = ""
        var port: Substring?
        while port == nil, case let text = server.output.availableData, !text.isEmpty {
            output += String(decoding: text, as: UTF8.self)
            port = output.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\n/)?.1
        }
        let url = "https://127.0.0.1:\(try #require(port, "\(output)"))/"
        let error = await TransferEngine(.local { $0.retries = 3 }).fetch(url).error
        #expect(error?.code == .tlsFailed, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        guard case .failure(let refused) = await WebPostTests.post("{}", to: url) else {
            Issue.record("a post accepted a self-signed certificate")
            return
        }
        #expect(refused.code == .tlsFailed)
    }

    private func openssl(_ arguments: String, in folder: URL) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return (process, pipe.fileHandleForReading)
    }
}
