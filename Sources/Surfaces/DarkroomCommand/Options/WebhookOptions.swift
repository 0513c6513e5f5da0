import ArgumentParsing
import Darkroom
import DarkroomText
import Foundation

/// Options for the receivers and the signature of webhooks.
struct WebhookOptions: WorkerOptions {
    /// The environment variable that contains the secret if no file is given.
    static let secretVariable = "DARKROOM_WEBHOOK_SECRET"

    @Option(
        help: "Deliver webhooks to these hosts, even private hosts: host, host:port, or *.host for its subdomains.",
        valueName: "host[:port],...")
    var webhookHosts: [String]
    @Option(
        help: "Sign webhooks with the secret in this file. Otherwise DARKROOM_WEBHOOK_SECRET gives the secret.",
        valueName: "file")
    var webhookSecretFile: String?

    /// Sets the hosts. ``secret(environment:warn:)`` reads the secret, which can be in a file.
    func fill(_ configuration: inout PhotoWorkerConfiguration) {
        configuration.webhookHosts = webhookHosts.flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The secret of the options or the environment; nil for none.
    /// - Parameter warn: Called with warnings about the options.
    func secret(
        environment: [String: String] = ProcessInfo.processInfo.environment, warn: (String) -> Void
    ) throws(CommandError) -> [UInt8]? {
        let variable = environment[Self.secretVariable].flatMap { $0.isEmpty ? nil : $0 }
        guard let webhookSecretFile else { return variable.map { Array($0.utf8) } }
        guard variable == nil else {
            throw CommandError("--webhook-secret-file and \(Self.secretVariable): both give the secret; choose one")
        }
        return try Self.secret(ofFile: webhookSecretFile, warn: warn)
    }

    /// The bytes of a file without a line break at its end.
    private static func secret(ofFile path: String, warn: (String) -> Void) throws(CommandError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0, let contents = FileManager.default.contents(atPath: path) else {
            let problem = errno == 0 ? "it cannot be read" : systemErrorText()
            throw CommandError("--webhook-secret-file \(path): \(problem)")
        }
        var secret = Array(contents)
        if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
        if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
        guard !secret.isEmpty else {
            throw CommandError(
                "--webhook-secret-file \(path): it is empty; write the secret into it that the receivers check")
        }
        if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o007 != 0 {
            warn("--webhook-secret-file \(path): every user of this machine may read it; chmod o= prevents that")
        }
        return secret
    }
}
