import Foundation

/// An HTTP server on 127.0.0.1 with intentionally faulty routes. It logs the behaviour of its clients.
package final class HostileServer: @unchecked Sendable {  // `condition` guards all mutable state
    /// The response to a request.
    package indirect enum Route: Sendable {
        /// A regular response with a `Content-Length`.
        case answer(status: Int = 200, headers: [String] = [], body: [UInt8] = [])
        /// Sends nothing, and waits until the client closes the connection.
        case stall
        /// Declares `declared` bytes, sends only `body`, and waits until the client closes the connection.
        case stallHalfWay(body: [UInt8], declared: Int)
        /// Declares `declared` bytes, sends only `body`, and closes the connection.
        case closeHalfWay(body: [UInt8], declared: Int)
        /// Closes the connection without a response.
        case hangUp
        /// Resets the connection without a response.
        case reset
        /// An endless body without `Content-Length`, until the client closes the connection.
        case endless
        /// Endless header lines.
        case endlessHead
        /// Endless chunks of one byte, each with an extension (RFC 9112, 7.1.1) of `bytes` bytes.
        case endlessExtensions(bytes: Int)
        /// A body without `Content-Length`.
        case undeclared(body: [UInt8])
        /// One byte of the body at a time, with a pause after each.
        case drip(body: [UInt8], pause: Duration)
        /// A redirect to an absolute URL, or to a path of this server.
        case redirect(to: String)
        /// These bytes, which need not be HTTP.
        case raw([UInt8])
        /// The routes of successive requests. The last route serves all further requests.
        case inTurn([Route])
        /// Responds with this route, but not before `release()` is called.
        case held(Route)
    }

    /// The events of the server so far.
    package struct Log: Sendable {
        /// The number of requests by path.
        package var requests: [String: Int] = [:]
        /// The number of connections that the client closed before the end of the response, by path.
        package var departures: [String: Int] = [:]
        /// The number of requests in progress.
        package var running = 0
        /// The maximum number of concurrent requests.
        package var mostRunning = 0
        /// The request line and headers of each request.
        package var heads: [String] = []
        /// The body of each request, or an empty array.
        package var bodies: [[UInt8]] = []
        /// The time of each request.
        package var arrivals: [ContinuousClock.Instant] = []
    }

    /// The listening port.
    package let port: UInt16

    private struct Waiter {
        let isMet: @Sendable (Log) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let routes: [String: Route]
    private let listener: Int32
    private let condition = NSCondition()
    private var current = Log()
    private var clients: Set<Int32> = []
    private var waiters: [Int: Waiter] = [:]
    private var waiterCount = 0
    private var isReleased = false
    private var isStopped = false

    /// Serves `routes` by path. Any other path returns status 404.
    package init(_ routes: [String: Route]) throws {
        self.routes = routes
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, port) = try withUnsafeMutablePointer(to: &address) { [listener] pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(listener, general, length) == 0, listen(listener, 1024) == 0,
                    getsockname(listener, general, &length) == 0
                else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            }
            return (listener, UInt16(bigEndian: pointer.pointee.sin_port))
        }
        self.port = port
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { break }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                self.welcome(client)
            }
            close(listener)
        }
    }

    deinit { stop() }

    /// The URL of `path`, which begins with `/`.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The events of the server so far.
    package var log: Log { locked { current } }

    /// Lets all current and later `held` requests continue.
    package func release() {
        locked {
            isReleased = true
            condition.broadcast()
        }
    }

    /// Waits until the log satisfies `isMet`. Returns `false` after `timeout`.
    package func wait(
        timeout: Duration = .seconds(20), until isMet: @escaping @Sendable (Log) -> Bool
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let number: Int? = locked {
                if isMet(current) {
                    continuation.resume(returning: true)
                    return nil
                }
                waiterCount += 1
                waiters[waiterCount] = Waiter(isMet: isMet, continuation: continuation)
                return waiterCount
            }
            guard let number else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + Double(timeout.components.seconds)) { [weak self] in
                self?.locked { self?.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
            }
        }
    }

    /// Closes the listening socket and all connections.
    package func stop() {
        locked {
            guard !isStopped else { return }
            isStopped = true
            isReleased = true
            condition.broadcast()
            shutdown(listener, Int32(SHUT_RDWR))
            for client in clients { shutdown(client, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Log

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    private func note(_ change: (inout Log) -> Void) {
        locked {
            change(&current)
            for (number, waiter) in waiters where waiter.isMet(current) {
                waiters[number] = nil
                waiter.continuation.resume(returning: true)
            }
        }
    }

    // MARK: Connections

    private func welcome(_ client: Int32) {
        let isWelcome = locked { isStopped ? false : clients.insert(client).inserted }
        guard isWelcome else {
            close(client)
            return
        }
        Thread.detachNewThread {
            if let (head, body) = Self.readRequest(client) {
                self.answer(head, body, Connection(descriptor: client))
            }
            self.locked {
                self.clients.remove(client)
                close(client)
            }
        }
    }

    private func answer(_ head: String, _ body: [UInt8], _ connection: Connection) {
        let path = String(head.split(separator: " ").dropFirst().first ?? "")
        var turn = 0
        note { log in
            turn = log.requests[path, default: 0]
            log.requests[path] = turn + 1
            log.heads.append(head)
            log.bodies.append(body)
            log.arrivals.append(.now)
            log.running += 1
            log.mostRunning = max(log.mostRunning, log.running)
        }
        let isThere = perform(routes[path] ?? .answer(status: 404, body: Array("no such path".utf8)), turn, connection)
        note { log in
            log.running -= 1
            if !isThere { log.departures[path, default: 0] += 1 }
        }
    }

    /// Performs the route. Returns `false` if the client has closed the connection.
    private func perform(_ route: Route, _ turn: Int, _ connection: Connection) -> Bool {
        switch route {
        case .answer(let status, let headers, let body):
            return connection.sendHead(status, headers + ["Content-Length: \(body.count)"]) && connection.send(body)
        case .stall:
            return connection.waitForDeparture()
        case .stallHalfWay(let body, let declared):
            return connection.sendHead(200, ["Content-Length: \(declared)"]) && connection.send(body)
                && connection.waitForDeparture()
        case .closeHalfWay(let body, let declared):
            return connection.sendHead(200, ["Content-Length: \(declared)"]) && connection.send(body)
        case .hangUp:
            return true
        case .reset:
            return connection.reset()
        case .endless:
            let block = [UInt8](repeating: 7, count: 64 << 10)
            guard connection.sendHead(200, []) else { return false }
            while connection.send(block) {}
            return false
        case .endlessHead:
            let lines = Array(String(repeating: "X-More: and more\r\n", count: 1000).utf8)
            guard connection.send(Array("HTTP/1.1 200 OK\r\n".utf8)) else { return false }
            while connection.send(lines) {}
            return false
        case .endlessExtensions(let count):
            let chunk = Array("1;\(String(repeating: "a", count: count))\r\nx\r\n".utf8)
            guard connection.sendHead(200, ["Transfer-Encoding: chunked"]) else { return false }
            while connection.send(chunk) {}
            return false
        case .undeclared(let body):
            return connection.sendHead(200, []) && connection.send(body)
        case .drip(let body, let pause):
            guard connection.sendHead(200, ["Content-Length: \(body.count)"]) else { return false }
            return body.allSatisfy { byte in
                usleep(UInt32(pause / .microseconds(1)))
                return connection.send([byte])
            }
        case .redirect(let target):
            return connection.sendHead(302, ["Location: \(target)", "Content-Length: 0"])
        case .raw(let bytes):
            return connection.send(bytes)
        case .inTurn(let routes):
            return perform(routes[min(turn, routes.count - 1)], turn, connection)
        case .held(let route):
            locked {
                while !isReleased { condition.wait() }
            }
            return perform(route, turn, connection)
        }
    }

    private static func readRequest(_ client: Int32) -> (head: String, body: [UInt8])? {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(client, &block, block.count, 0)
            guard count > 0 else { return nil }
            bytes += block[..<count]
            // The start of a TLS handshake, which this server does not support.
            if bytes[0] == 0x16 { return ("TLS hello", []) }
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { continue }
            let head = String(decoding: bytes[..<end], as: UTF8.self)
            let declared = head.firstMatch(of: /(?i)\r\nContent-Length: *(\d+)/).flatMap { Int($0.1) } ?? 0
            if bytes.count - end >= declared { return (head, Array(bytes[end...].prefix(declared))) }
        }
    }
}

/// The server's side of a connection that carries one request.
private struct Connection {
    let descriptor: Int32

    /// Sends all of `bytes`. Returns `false` if the client has closed the connection.
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                Glibc.send(descriptor, all.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func sendHead(_ status: Int, _ headers: [String]) -> Bool {
        let lines = ["HTTP/1.1 \(status) Status", "Connection: close"] + headers
        return send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// Waits until the client has closed its side of the connection. Returns `false`.
    func waitForDeparture() -> Bool {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
        return false
    }

    /// Makes `close` send a reset (RST) instead of a regular end (FIN).
    func reset() -> Bool {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        return true
    }
}
