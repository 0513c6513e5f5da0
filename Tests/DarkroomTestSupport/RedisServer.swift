import DarkroomConcurrency
import DarkroomRedis
import Foundation

#if compiler(>=6.1)
    import Testing
#else
    @_spi(Experimental) import Testing
#endif

/// A real redis-server of a suite, on a socket in a temporary folder. Each test uses its own namespace.
///
/// `@Suite(.redisServer) struct SomeTests { let redis = RedisServer.current }`
package final class RedisServer: Sendable {
    /// The folder of the server's files, which tests may also use. It is removed with the server.
    package var folder: String { scratch.path }
    private let scratch: ScratchFolder

    private let process: Locked<RedisServerProcess>
    private let arguments: [String]
    private let port: Int?
    private static let namespaces = Locked(0)
    private static let ports = Locked(Set<Int>())

    @TaskLocal static var ofSuite: RedisServer?

    /// The server of the running suite, which must have the trait `.redisServer`.
    package static var current: RedisServer {
        guard let ofSuite else { preconditionFailure("the suite of this test lacks the trait .redisServer") }
        return ofSuite
    }

    /// Starts a server for a single test. Must be stopped with `stop()`.
    package init(arguments: [String] = [], port: Int? = nil) throws {
        scratch = try ScratchFolder(in: "/tmp")
        self.arguments = arguments
        self.port = port
        process = Locked(try Self.start(scratch.path, arguments, port))
    }

    /// The configuration of connections to the server.
    package var configuration: RedisConfiguration { process.withLock { $0.configuration } }

    /// The process id.
    package var processIdentifier: Int32 { process.withLock { $0.processIdentifier } }

    /// An unused TCP port of the loopback interface, a different one in each call.
    ///
    /// The port is outside the range for outgoing connections (`ip_local_port_range`). Otherwise an outgoing connection
    /// could take the port before the server does, or connect to itself.
    package static func freePort() throws -> Int {
        while true {
            let port = Int.random(in: 10_000..<32_768)
            guard ports.withLock({ $0.insert(port).inserted }) else { continue }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            let isFree = withUnsafeBytes(of: &address) { bytes in
                bind(
                    descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
            if isFree { return port }
        }
    }

    /// A new namespace, which no other test uses.
    package func namespace() -> String {
        "test-"
            + Self.namespaces.withLock { number in
                number += 1
                return "\(number)"
            }
    }

    /// Ends the server and keeps its files.
    package func terminate() { process.withLock { $0 }.terminate() }

    /// Kills the server, so it saves and logs nothing.
    package func crash() {
        kill(processIdentifier, SIGKILL)
        terminate()  // waits for its end
    }

    /// Suspends the server: connections stay open, and it sends no replies.
    package func suspend() { kill(processIdentifier, SIGSTOP) }

    /// Resumes a suspended server.
    package func resume() { kill(processIdentifier, SIGCONT) }

    /// Starts the server again after `terminate()` or `crash()`, with the same folder and socket.
    package func restart() throws {
        let started = try Self.start(folder, arguments, port)
        process.withLock { $0 = started }
    }

    /// Ends the server and removes its folder.
    package func stop() {
        terminate()
        scratch.remove()
    }

    private static func start(_ folder: String, _ arguments: [String], _ port: Int?) throws -> RedisServerProcess {
        try RedisServerProcess(socketPath: folder + "/redis.sock", folder: folder, port: port, arguments: arguments)
    }
}

#if compiler(>=6.1)
    /// Traits of this kind run code before and after a suite.
    package typealias SuiteScoping = TestScoping
#else
    /// Traits of this kind run code before and after a suite. The protocol is not public before Swift 6.1.
    package typealias SuiteScoping = CustomExecutionTrait
#endif

/// Gives a suite its ``RedisServer``.
package struct RedisServerTrait: SuiteTrait, SuiteScoping {
    let arguments: [String]

    #if compiler(>=6.1)
        /// Starts the server before the suite's tests and stops it after them.
        package func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            try await serve(function)
        }
    #else
        /// Starts the server before the suite's tests and stops it after them.
        package func execute(
            _ function: @escaping @Sendable () async throws -> Void, for test: Test, testCase: Test.Case?
        ) async throws {
            try await serve(function)
        }
    #endif

    private func serve(_ function: @Sendable () async throws -> Void) async throws {
        let server = try RedisServer(arguments: arguments)
        defer { server.stop() }
        try await RedisServer.$ofSuite.withValue(server) { try await function() }
    }
}

extension Trait where Self == RedisServerTrait {
    /// Starts a redis-server for the suite: `RedisServer.current`.
    package static var redisServer: Self { RedisServerTrait(arguments: []) }

    /// Starts a redis-server with these options for the suite: `RedisServer.current`.
    package static func redisServer(arguments: [String]) -> Self { RedisServerTrait(arguments: arguments) }
}
