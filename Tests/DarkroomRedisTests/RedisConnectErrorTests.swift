import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Errors for wrong addresses and passwords: each error names the failed step, the server and the cause.
@Suite(.redisServer) struct RedisConnectErrorTests {
    let redis = RedisServer.current

    @Test func portWithoutAListener() throws {
        let port = try RedisServer.freePort()
        let error = try failure("redis://127.0.0.1:\(port)")
        #expect(error.code == .cannotConnect)
        #expect(error.description.hasPrefix("connect to redis://127.0.0.1:\(port): Connection refused; "))
    }

    @Test func missingSocketFile() throws {
        let error = try failure("unix://\(redis.folder)/missing.sock")
        #expect(error.code == .cannotConnect)
        #expect(error.description.contains("missing.sock: No such file or directory; "))
    }

    @Test func hostNameWithoutAnAddress() throws {
        // A label of a host name has at most 63 characters, so no name server is asked.
        let error = try failure("redis://\(String(repeating: "x", count: 70)).invalid")
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("host"))
    }

    @Test func wrongMissingOrUnexpectedPassword() throws {
        let locked = try RedisServer(arguments: ["--user", "ann", "on", ">open sesame", "~*", "&*", "+@all"])
        defer { locked.stop() }
        let administrator = RedisConnection(locked.configuration)
        _ = try administrator.call(RedisCommand("CONFIG", "SET", "requirepass", "default"))

        func connect(_ user: String?, _ password: String?) throws {
            var configuration = locked.configuration
            configuration.user = user
            configuration.password = password
            try RedisConnection(configuration).connect()
        }
        try connect("ann", "open sesame")
        try connect(nil, "default")
        for (user, password) in [("ann", "secret"), ("bob", "open sesame"), (nil, "secret"), (nil, nil)] {
            let error = try requireError(RedisError.self) { try connect(user, password) }
            #expect(error.code == .authenticationFailed)
            #expect(error.message.contains("password"))
            #expect(!error.description.contains("secret") && !error.description.contains("sesame"))
        }

        var configuration = redis.configuration
        configuration.password = "secret"
        let error = try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
        #expect(error.code == .authenticationFailed)
        #expect(error.message.contains("without any password"))
    }

    @Test func missingDatabase() throws {
        var configuration = redis.configuration
        configuration.database = 999
        let error = try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
        #expect(error.code == .server)
        #expect(error.message.contains("DB index is out of range"))
    }

    @Test func serverWithTooManyClients() throws {
        let port = try RedisServer.freePort()
        let full = try RedisServer(port: port)
        defer { full.stop() }
        let first = RedisConnection(full.configuration)
        // Not a start option: the connection that waited for the start of the server may still be open.
        _ = try first.call(RedisCommand("CONFIG", "SET", "maxclients", "1"))
        let error = try failure("redis://127.0.0.1:\(port)")
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("max number of clients"))
    }

    @Test func listenerThatIsNotRedis() throws {
        let stub = try StubServer(answer: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        let error = try failure("redis://127.0.0.1:\(stub.port)")
        #expect(error.code == .protocolError)
        #expect(error.message.contains("is a Redis listening there?"))
    }

    @Test func listenerThatNeverReplies() throws {
        let stub = try StubServer(answer: [])
        var configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(stub.port)")
        configuration.connectTimeout = .seconds(2)
        let error = try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("in time"))
    }

    private func failure(_ url: String) throws -> RedisError {
        let configuration = try RedisConfiguration(url: url)
        return try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
    }
}

/// Listens on a port and sends each connection the same reply, whatever the client sends. It closes no connection.
private final class StubServer: Sendable {
    let port: Int
    private let descriptor: Int32

    init(answer: [UInt8]) throws {
        port = try RedisServer.freePort()
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        address.sin_port = UInt16(port).bigEndian
        let bound = withUnsafeBytes(of: address) { bytes in
            bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        try #require(bound == 0 && listen(descriptor, 8) == 0)
        Thread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                answer.withUnsafeBytes { _ = write(client, $0.baseAddress, $0.count) }
            }
        }.start()
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
