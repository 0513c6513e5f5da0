import ArgumentParsing
import Darkroom
import DarkroomRedis
import Foundation

/// Options for Redis passwords and certificates, which do not belong in the URL.
struct RedisAccessOptions: ParsableArguments {
    @Option(
        name: .customLong("redis-password-file"),
        help: "A file with the password; by default, DARKROOM_REDIS_PASSWORD or the URL gives it.", valueName: "file",
        environment: "DARKROOM_REDIS_PASSWORD_FILE",
        synonyms: ["password", "redis-password"])
    var passwordFile: String?

    @Option(
        name: .customLong("redis-ca"), help: "Certificate authorities (PEM) for rediss://.",
        valueName: "file", environment: "DARKROOM_REDIS_CA")
    var authorities: String?

    @Option(
        name: .customLong("redis-cert"), help: "The client certificate (PEM) for rediss://.", valueName: "file",
        environment: "DARKROOM_REDIS_CERT")
    var certificate: String?

    @Option(
        name: .customLong("redis-key"), help: "The private key (PEM) of the client certificate.", valueName: "file",
        environment: "DARKROOM_REDIS_KEY")
    var key: String?

    /// The configuration for the Redis server at `url`, with the password and the TLS files from the options.
    func configuration(url: String) throws -> RedisConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var configuration = try RedisConfiguration(
            url: url, password: try password ?? environment["DARKROOM_REDIS_PASSWORD"])
        if case .sentinels = configuration.address, configuration.sentinelPassword == nil {
            configuration.sentinelPassword = environment["DARKROOM_REDIS_SENTINEL_PASSWORD"]
        }
        let names = ["--redis-ca", "--redis-cert", "--redis-key"]
        do throws(RedisError) {
            try configuration.setFiles(
                .init(authorities: authorities, certificate: certificate, key: key), names: names)
        } catch {
            throw ValidationError(error.message)
        }
        for case let (name, file?) in zip(names, [authorities, certificate, key]) { try mustBeReadable(file, name) }
        return configuration
    }

    /// The first non-empty line of the password file; nil without the option.
    private var password: String? {
        get throws {
            guard let passwordFile else { return nil }
            guard let line = try linesOfFile(passwordFile, "--redis-password-file").first(where: { !$0.isEmpty }) else {
                throw ValidationError(
                    "--redis-password-file \(passwordFile): the file is empty; put the password there")
            }
            return line
        }
    }
}
