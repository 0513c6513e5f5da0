import Foundation
import Testing

/// A certificate authority, and a server certificate and a client certificate that it has signed. openssl makes them in
/// a temporary folder.
package struct Certificates {
    private let scratch: ScratchFolder
    package var folder: String { scratch.path }

    /// The certificate of the server is valid for `localhost`, not for 127.0.0.1.
    package init() throws {
        scratch = try ScratchFolder()
        try make("authority", ["-subj", "/CN=Authority of a test", "-addext", "keyUsage=keyCertSign"])
        let signed = ["-CA", authority, "-CAkey", key("authority"), "-addext", "basicConstraints=critical,CA:false"]
        try make("server", ["-subj", "/CN=server", "-addext", "subjectAltName=DNS:localhost"] + signed)
        try make("client", ["-subj", "/CN=client"] + signed)
    }

    package var authority: String { certificate("authority") }

    package func certificate(_ name: String) -> String { "\(folder)/\(name).pem" }

    package func key(_ name: String) -> String { "\(folder)/\(name).key" }

    private func make(_ name: String, _ options: [String]) throws {
        let arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            + ["-days", "2", "-keyout", key(name), "-out", certificate(name)] + options
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "\(folder)/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var child = pid_t()
        var status: Int32 = 0
        try #require(
            posix_spawnp(&child, "openssl", &actions, nil, &pointers, environ) == 0, "openssl is not installed")
        try #require(waitpid(child, &status, 0) == child)
        let log = try String(contentsOfFile: "\(folder)/log", encoding: .utf8)
        try #require(status == 0, "openssl failed: \(log)")
    }
}
