import DarkroomConcurrency
import DarkroomRedis
import Foundation

#if compiler(>=6.1)
    import Testing
#else
    @_spi(Experimental) import Testing
#endif

/// A real redis-server of a suite, on a socket in a temporary folder; each test takes a namespace of its own.
///
/// `@Suite(.redisServer) struct SomeTests { let redis = RedisServer.current }`
package final class RedisServer: Sendable {
    /// The folder of the server's files, for a test's own as well; it goes with the server.
    package var folder: String { scratch.path }
    private let scratch: ScratchFolder

    private let process: Locked<RedisServerProcess>
    private let arguments: [String]
    private let port: Int?
    private static let namespaces = Locked(0)
    private static let ports = Locked(Set<Int>())

    @TaskLocal static var ofSuite: RedisServer?

    /// The server of the suite that runs; the suite has the trait `.redisServer`.
    package static var current: RedisServer {
        guard let ofSuite else { preconditionFailure("the suite of this test lacks the trait .redisServer") }
        return ofSuite
    }

    /// Starts a server, for a test that needs one to itself; `stop()` it.
    package init(arguments: [String] = [], port: Int? = nil) throws {
        scratch = try ScratchFolder(in: "/tmp")
        self.arguments = arguments
        self.port = port
        process = Locked(try Self.start(scratch.path, arguments, port))
    }

    /// How to reach it.
    package var configuration: RedisConfiguration { process.withLock { $0.configuration } }

    /// The id of its process.
    package var processIdentifier: Int32 { process.withLock { $0.processIdentifier } }

    /// A TCP port of the loopback interface that nothing uses at the moment, another one each time.
    ///
    /// None that the system may give to a connection that goes out (`ip_local_port_range`): one of those would take it before
    /// the server does, or be connected to itself.
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

    /// A namespace that no other test has.
    package func namespace() -> String {
        "test-"
            + Self.namespaces.withLock { number in
                number += 1
                return "\(number)"
            }
    }

    /// Ends the server without removing anything.
    package func terminate() { process.withLock { $0 }.terminate() }

    /// Ends the server at once, as a crash does: nothing is saved or said.
    package func crash() {
        kill(processIdentifier, SIGKILL)
        terminate()  // waits for its end
    }

    /// Stops the server in its tracks: connections stay, nothing is answered.
    package func suspend() { kill(processIdentifier, SIGSTOP) }

    /// Lets a suspended server go on.
    package func resume() { kill(processIdentifier, SIGCONT) }

    /// Starts it again, after `terminate()` or `crash()`, with the same folder and socket.
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
    /// Traits of this kind run code around a suite.
    package typealias SuiteScoping = TestScoping
#else
    /// Traits of this kind run code around a suite; what `TestScoping` was before Swift 6.1, and no public interface.
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
    /// The suite has a redis-server: `RedisServer.current`.
    package static var redisServer: Self { RedisServerTrait(arguments: []) }

    /// The suite has a redis-server with these options: `RedisServer.current`.
    package static func redisServer(arguments: [String]) -> Self { RedisServerTrait(arguments: arguments) }
}
