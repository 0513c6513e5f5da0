import Foundation
import Testing

/// A web server on localhost that openssl runs. Its pages say whether the connection has resumed a TLS session.
package final class TLSServer {
    package let port: Int
    private let process = Process()

    /// - Parameter options: options of `openssl s_server`, such as the certificate.
    package init(_ options: [String]) throws {
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www"] + options
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var output = ""
        var found: Int?
        while found == nil, case let text = pipe.fileHandleForReading.availableData, !text.isEmpty {
            output += String(decoding: text, as: UTF8.self)
            found = output.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\n/).flatMap { Int($0.1) }
        }
        port = try #require(found, "openssl did not start: \(output)")
    }

    /// Sends SIGKILL, because the child inherits a signal mask that may block SIGTERM.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// Ends the server, so that its port is free.
    package func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
