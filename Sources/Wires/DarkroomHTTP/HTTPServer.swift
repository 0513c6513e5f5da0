internal import CMicrohttpd
import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
internal import Glibc

/// Makes the responses of a server.
///
/// All methods are called on the server's thread. They must return quickly, because this thread serves all clients.
package protocol HTTPService: Sendable {
    /// Called when the head of a request has arrived. `request.body` is empty.
    func accept(_ request: HTTPRequest) -> BodyRule
    /// Whether the client has logged in and may use more than the public pages. If there are too many connections, the
    /// server closes connections of other clients first. Called before ``accept(_:)``.
    func knows(_ request: HTTPRequest) -> Bool
    /// Called when the request is complete. The service may respond later, on any thread.
    func answer(_ exchange: HTTPExchange)
    /// The response to a request that cannot be handled.
    func error(_ status: Int, _ text: String) -> HTTPResponse
}

/// The limits that protect a server against its clients.
package struct HTTPServerLimits: Sendable {
    /// The largest number of open connections. If this process may not open this number of files, the limit is lower.
    /// From three quarters of the limit on, the server closes connections to make room for new connections (see
    /// `ConnectionRoom`).
    package var connections = 4096
    /// The largest number of bytes of the head of a request.
    package var headBytes = 32_768
    /// The time that a client may take for the head of a request, or for receiving a message of a stream. For a body or
    /// a response, the client gets this time in addition to the time that the bytes take at the rate
    /// ``slowestBytesPerSecond``.
    package var patience = Duration.seconds(20)
    /// If this time is shorter than ``patience``, it replaces ``patience`` for a body or a response of a client that
    /// the service does not know. Such clients send nothing larger than a login.
    package var patienceWithStrangers = Duration.seconds(5)
    /// The networks of proxies. A proxy forwards connections of many clients.
    package var proxies: Set<ClientNetwork> = []
    /// The slowest rate at which a client may send a body or receive a response.
    package var slowestBytesPerSecond = 4096
    /// The largest number of bytes of all request bodies that are held in memory.
    package var bodyBytes = 64 << 20
    /// The largest number of request bodies that are in files at the same time.
    package var bodyFiles = 8

    package init() {}
}

/// A certificate chain and its private key, in PEM.
package struct ServerCertificate: Sendable {
    package let chain: String
    package let key: String

    package init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }
}

/// An HTTP/1.1 server, on libmicrohttpd with one thread.
package final class HTTPServer: Sendable {
    /// The address on which the server listens. If port 0 was requested, its port is the port that the system chose.
    package let address: ListenAddress

    let core: ServerCore
    private let daemon: Locked<OpaquePointer?>
    private let deadlines: PeriodicThread

    /// Starts to listen and to serve.
    /// - Throws: ``HTTPServerError`` if the address cannot be used, or if the certificate or key is not valid.
    package init(
        _ service: any HTTPService, at address: ListenAddress, certificate: ServerCertificate? = nil,
        limits: HTTPServerLimits = HTTPServerLimits()
    ) throws(HTTPServerError) {
        var limits = limits
        limits.connections = OpenFileLimit.raise(forConnections: limits.connections)
        let core = ServerCore(service, limits)
        let (socket, bound) = try address.listen()
        self.core = core
        self.address = bound
        guard let started = Self.start(core, socket, certificate, limits) else {
            close(socket)
            throw HTTPServerError(
                certificate == nil
                    ? "cannot start the server: \(systemErrorText())"
                    : "cannot start the server with TLS; check that the certificate file contains a certificate chain in PEM, "
                        + "and the key file its private key")
        }
        daemon = Locked(started)
        deadlines = PeriodicThread("http-deadlines", every: .seconds(1)) { core.connections.enforce() }
    }

    deinit { stop() }

    /// The number of open connections.
    package var connectionCount: Int { core.connections.count }

    /// Stops listening, ends all streams, waits until the service has given all pending responses, and closes all
    /// connections. May be called more than once.
    package func stop() {
        guard let stopping = daemon.exchange(nil) else { return }
        deadlines.stop()
        let listening = MHD_quiesce_daemon(stopping)
        core.close()
        MHD_stop_daemon(stopping)
        if listening >= 0 { close(listening) }
    }

    private static func start(
        _ core: ServerCore, _ socket: Int32, _ certificate: ServerCertificate?, _ limits: HTTPServerLimits
    ) -> OpaquePointer? {
        var settings = darkroom_mhd_settings()
        settings.socket = socket
        settings.connection_limit = UInt32(limits.connections)
        settings.connection_memory = limits.headBytes
        settings.idle_timeout = UInt32(limits.patience.components.seconds) + 1
        settings.context = Unmanaged.passUnretained(core).toOpaque()  // `core` outlives the daemon
        settings.target = { context, target, _ in
            let core = Unmanaged<ServerCore>.fromOpaque(context!).takeUnretainedValue()
            let bytes = UnsafeBufferPointer(
                start: UnsafeRawPointer(target!).assumingMemoryBound(to: UInt8.self), count: strlen(target!))
            return Unmanaged.passRetained(Transaction(target: bytes, core)).toOpaque()
        }
        settings.handler = { _, connection, _, method, version, data, size, transaction in
            let transaction = Unmanaged<Transaction>.fromOpaque(transaction!.pointee!).takeUnretainedValue()
            var count = size!.pointee
            defer { size!.pointee = count }
            return transaction.handle(connection!, method: method!, version: version!, data, &count)
        }
        settings.completed = { context, connection, transaction, _ in
            let core = Unmanaged<ServerCore>.fromOpaque(context!).takeUnretainedValue()
            core.connections.began(.waiting, connection!)
            guard let ended = transaction?.pointee else { return }
            Unmanaged<Transaction>.fromOpaque(ended).takeRetainedValue().end()
            transaction?.pointee = nil
        }
        settings.connection = { context, connection, _, event in
            let core = Unmanaged<ServerCore>.fromOpaque(context!).takeUnretainedValue()
            if darkroom_mhd_has_begun(event) {
                core.connections.add(connection!)
            } else {
                core.connections.remove(connection!)
            }
        }
        guard let certificate else { return darkroom_mhd_start(&settings) }
        return certificate.chain.withCString { chain in
            certificate.key.withCString { key in
                settings.certificate = chain
                settings.key = key
                return darkroom_mhd_start(&settings)
            }
        }
    }
}

/// The part of a server that the callbacks of libmicrohttpd use.
final class ServerCore: Sendable {
    private struct State {
        var isClosing = false
        /// The number of requests for which the service is making the response.
        var handling = 0
        /// The number of bytes that are reserved for request bodies in memory.
        var bodyBytes = 0
        /// The number of request bodies in files.
        var bodyFiles = 0
        var streams: [ObjectIdentifier: ResponseStream] = [:]
    }

    let service: any HTTPService
    let connections: ConnectionTable
    private let state = Locked(State())
    private let isIdle = Signal()
    private let limits: HTTPServerLimits

    init(_ service: any HTTPService, _ limits: HTTPServerLimits) {
        self.service = service
        self.limits = limits
        connections = ConnectionTable(limits)
    }

    /// Reserves memory for a request body before the body arrives. Returns false if all request bodies together would
    /// exceed the limit.
    func reserve(bodyBytes: Int) -> Bool {
        state.withLock { state in
            guard state.bodyBytes + bodyBytes <= limits.bodyBytes else { return false }
            state.bodyBytes += bodyBytes
            return true
        }
    }

    func release(bodyBytes: Int) { state.withLock { $0.bodyBytes -= bodyBytes } }

    /// Counts a request body in a file. Returns false if too many request bodies are in files.
    func reserveBodyFile() -> Bool {
        state.withLock { state in
            guard state.bodyFiles < limits.bodyFiles else { return false }
            state.bodyFiles += 1
            return true
        }
    }

    func releaseBodyFile() { state.withLock { $0.bodyFiles -= 1 } }

    /// Counts a response that the service begins to make. Returns false if the server is closing.
    func begin() -> Bool {
        state.withLock { state in
            if !state.isClosing { state.handling += 1 }
            return !state.isClosing
        }
    }

    /// Must be called when the service has made a response that ``begin()`` has counted.
    func finish() {
        let isLast = state.withLock { state in
            state.handling -= 1
            return state.handling == 0
        }
        if isLast { isIdle.raise() }
    }

    func add(_ stream: ResponseStream) {
        let isClosing = state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            return state.isClosing
        }
        if isClosing { stream.finish() }
    }

    func remove(_ stream: ResponseStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = nil } }

    /// Ends all streams, and waits until no connection is suspended.
    func close() {
        let streams = state.withLock { state in
            state.isClosing = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
        while state.withLock({ $0.handling > 0 }) { isIdle.wait() }
    }
}

package struct HTTPServerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
