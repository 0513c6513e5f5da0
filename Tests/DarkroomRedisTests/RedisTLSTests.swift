import DarkroomRedis
import DarkroomTestSupport
import Foundation
import ErrorExpectations
import Testing

/// A redis-server that requires TLS, a client certificate and a password.
@Suite final class RedisTLSTests {
    let certificates: Certificates
    let redis: RedisServer
    let port: Int

    init() throws {
        certificates = try Certificates()
        port = try RedisServer.freePort()
        redis = try RedisServer(arguments: [
            "--tls-port", "\(port)", "--tls-cert-file", certificates.certificate("server"),
            "--tls-key-file", certificates.key("server"), "--tls-ca-cert-file", certificates.authority,
            "--tls-auth-clients", "yes",
        ])
        let administrator = RedisConnection(redis.configuration)
        _ = try administrator.call(RedisCommand("CONFIG", "SET", "requirepass", "s3cret word"))
    }

    deinit {
        redis.stop()
    }

    private func configuration(_ tls: RedisConfiguration.TLS?, host: String = "localhost") throws -> RedisConfiguration
    {
        var configuration = try RedisConfiguration(url: "rediss://:s3cret%20word@\(host):\(port)")
        configuration.tls = tls
        return configuration
    }

    private var good: RedisConfiguration.TLS {
        RedisConfiguration.TLS(
            authorities: certificates.authority, certificate: certificates.certificate("client"),
            key: certificates.key("client"))
    }

    @Test func usesTLSWithAClientCertificate() throws {
        let connection = RedisConnection(try configuration(good))
        try connection.connect()
        // More bytes than a socket accepts in one call, in both directions at the same time: each large write needs
        // several calls.
        let value = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let echo = RedisCommand(arguments: [Array("ECHO".utf8), value])
        let results = connection.call([echo, RedisCommand("PING"), echo, echo])
        for index in [0, 2, 3] {
            let isUnchanged = try results[index].get().bytes == value
            #expect(isUnchanged)
        }
        #expect(results[1] == .success(.status("PONG")))
        let many = connection.call(Array(repeating: RedisCommand("INCR", "counter"), count: 20_000))
        #expect(many.last == .success(.integer(20_000)))
    }

    @Test func subscribesOverTLS() throws {
        let subscribed = DispatchSemaphore(value: 0)
        let subscription = RedisSubscription(try configuration(good), channels: ["c"]) { event in
            if event == .subscribed { subscribed.signal() }
        }
        defer { subscription.close() }
        #expect(subscribed.wait(timeout: .now() + 20) == .success)
    }

    @Test func errorSaysThatTheClientCertificateIsMissing() throws {
        let error = try failure(configuration(RedisConfiguration.TLS(authorities: certificates.authority)))
        // If the connection is closed before the server's TLS alert arrives, the client reports a closed connection.
        #expect([.tlsFailed, .cannotConnect].contains(error.code))
        #expect(error.message.contains("client certificate"))
    }

    @Test func doesNotTrustAServerOfAnotherAuthority() throws {
        let error = try failure(configuration(RedisConfiguration.TLS()))
        #expect(error.code == .tlsFailed)
    }

    @Test func doesNotTrustAServerOfAnotherName() throws {
        let error = try failure(configuration(good, host: "127.0.0.1"))
        #expect(error.code == .tlsFailed)
        #expect(error.description.contains("rediss://127.0.0.1:\(port)"))
        #expect(!error.description.contains("s3cret"))
    }

    @Test func recommendsTLSWhenThePortExpectsIt() throws {
        let error = try failure(configuration(nil))
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("rediss://"))
    }

    @Test func errorSaysThatThePortDoesNotUseTLS() throws {
        let plainPort = try RedisServer.freePort()
        let plain = try RedisServer(port: plainPort)
        defer { plain.stop() }
        var configuration = try RedisConfiguration(url: "rediss://127.0.0.1:\(plainPort)")
        configuration.tls = good
        configuration.connectTimeout = .milliseconds(300)
        // Redis reads the TLS handshake as the beginning of a command and waits for more bytes.
        let error = try failure(configuration)
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("speaks TLS"))
    }

    private func failure(_ configuration: RedisConfiguration) throws -> RedisError {
        try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
    }
}
