import ArgumentParsing
import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// The ways to set the password and the files for TLS. None of them shows a secret in the list of processes.
@Suite(.serialized) struct RedisAccessTests {
    @Test func passwordComesFromTheURLAFileOrTheEnvironment() throws {
        let redis = try RedisServer(arguments: ["--user", "ann", "on", ">open sesame", "~*", "&*", "+@all"])
        defer { redis.stop() }
        _ = try RedisConnection(redis.configuration).call(RedisCommand("CONFIG", "SET", "requirepass", "unguessed"))
        let address = redis.configuration.displayName.replacingOccurrences(of: "unix://", with: "unix://ann@")
        let file = redis.folder + "/password"
        try "open sesame\n".write(toFile: file, atomically: true, encoding: .utf8)

        let ways: [([String], [String: String])] = [
            (["--redis-password-file", file], [:]), ([], ["DARKROOM_REDIS_PASSWORD_FILE": file]),
            ([], ["DARKROOM_REDIS_PASSWORD": "open sesame"]),
        ]
        for (arguments, environment) in ways {
            let outcome = try Program(["status", "--redis", address] + arguments, environment: environment).outcome()
            #expect(outcome.status == 0, "\(arguments) \(environment): \(outcome.standardError)")
        }
        // A password in the URL takes precedence.
        let own = address.replacingOccurrences(of: "ann@", with: "ann:wrong-secret@")
        let outcome = try Program.run("status", "--redis", own, "--redis-password-file", file)
        #expect(outcome.status == 1 && outcome.standardError.contains("WRONGPASS"))
        #expect(!outcome.standardError.contains("secret") && !outcome.standardError.contains("sesame"))
    }

    @Test(arguments: [
        (["--redis-password-file", "/no/such"], "--redis-password-file /no/such: no such file"),
        (["--redis-password-file", "/etc"], "--redis-password-file /etc: not a file that can be read"),
        (
            ["--redis-password-file", "/dev/null"],
            "--redis-password-file /dev/null: not a regular file that can be read"
        ),
        (["--redis-ca", "/etc/passwd"], "--redis-ca: only for rediss://, but the address is redis://127.0.0.1:6379"),
        (["--redis", "rediss://h", "--redis-ca", "/no/such"], "--redis-ca /no/such: no such file"),
        (
            ["--redis", "rediss://h", "--redis-cert", "/etc/passwd"],
            "--redis-cert and --redis-key: a certificate and its"
        ),
    ])
    func unusableFilesAreUsageErrors(_ arguments: [String], _ message: String) throws {
        let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(["status"] + arguments) }
        #expect(end.code == .usage)
        #expect(end.standardError.contains("error: \(message)"), "\(end.standardError)")
    }

    @Test(arguments: [
        ("http://ann:secret@h/x", "http://ann:***@h/x"), ("redis://:secret@h:0", "redis://:***@h:0"),
        ("redis+sentinel://h/m?password=secret", "redis+sentinel://h/m?***"),
    ])
    func invalidAddressIsShownWithoutItsPassword(_ address: String, _ shown: String) throws {
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot(["status", "--redis", address])
        }
        #expect(end.code == .usage && !end.standardError.contains("secret"), "\(end.standardError)")
        #expect(end.standardError.contains("(given: \"\(shown)\")"), "\(end.standardError)")
    }

    @Test func optionsSetTheFilesForTLS() throws {
        let line = [
            "status", "--redis", "rediss+sentinel://s:1/m", "--redis-ca", "/etc/passwd", "--redis-cert", "/etc/hosts",
            "--redis-key", "/etc/hostname",
        ]
        let command = try #require(try DarkroomProgram.parseAsRoot(line) as? StatusCommand)
        let tls = try #require(try command.redis.configuration().tls)
        #expect(tls.authorities == "/etc/passwd" && tls.certificate == "/etc/hosts" && tls.key == "/etc/hostname")
    }
}
