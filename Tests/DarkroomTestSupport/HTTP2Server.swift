import CTLS
import Foundation

/// A server of HTTP/2 over TLS on localhost whose replies are frames that the test writes, so that they may be faulty.
///
/// One thread for each connection reads the frames of the client and calls the handler for each request. The handler does not
/// learn the path, because this server does not decode headers.
package final class HTTP2Server: @unchecked Sendable {  // `condition` guards all mutable state
    /// The events of the server so far.
    package struct Log: Sendable {
        /// The number of connections with HTTP/2.
        package var connections = 0
        /// The number of connections whose client did not offer HTTP/2. The server closes them.
        package var refused = 0
        /// The number of connections that were accepted after ``silence()``.
        package var silent = 0
        /// The number of connections that the client or the server has closed.
        package var ended = 0
        /// The number of requests.
        package var requests = 0
        /// The numbers of the streams that the client has reset. libcurl 7.88 also resets streams that have ended.
        package var resets: [UInt32] = []
        /// The settings of the client, by their numbers.
        package var settings: [UInt16: UInt32] = [:]
    }

    /// A request for which the handler sends frames.
    package struct Request: Sendable {
        /// The number of its connection, counted from 1.
        package let connection: Int
        /// The number of the request on this server, counted from 1.
        package let number: Int
        package let stream: UInt32
        /// The weight among the requests of the connection, from 1 to 256; nil if the client does not send it.
        package let weight: Int?
    }

    package let port: Int
    private let handler: @Sendable (Request, Connection) -> Void
    private let context: OpaquePointer
    private let listener: Int32
    private let condition = NSCondition()
    private var current = Log()
    private var clients: Set<Int32> = []
    private var isSilent = false
    private var isStopped = false

    /// - Parameters:
    ///   - certificates: its certificate `server` is that of this server.
    ///   - handler: called on the connection's thread.
    package init(
        _ certificates: Certificates, handler: @escaping @Sendable (Request, Connection) -> Void
    ) throws {
        self.handler = handler
        context = SSL_CTX_new(TLS_server_method())
        SSL_CTX_use_certificate_file(context, certificates.certificate("server"), SSL_FILETYPE_PEM)
        SSL_CTX_use_PrivateKey_file(context, certificates.key("server"), SSL_FILETYPE_PEM)
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, length, offered, count, _ in
                let ours: StaticString = "\u{2}h2"
                return UnsafeMutableRawPointer(chosen!).withMemoryRebound(
                    to: UnsafeMutablePointer<UInt8>?.self, capacity: 1
                ) {
                    SSL_select_next_proto($0, length, ours.utf8Start, 3, offered, count) == OPENSSL_NPN_NEGOTIATED
                        ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
                }
            }, nil)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        port = try withUnsafeMutablePointer(to: &address) { [listener] pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(listener, general, length) == 0, listen(listener, 1024) == 0,
                    getsockname(listener, general, &length) == 0
                else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            }
            return Int(UInt16(bigEndian: pointer.pointee.sin_port))
        }
        Thread.detachNewThread { [weak self, listener] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else { break }
                self.welcome(client)
            }
            close(listener)
        }
    }

    deinit {
        stop()
        SSL_CTX_free(context)
    }

    package func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    /// The events of the server so far.
    package var log: Log { locked { current } }

    /// Waits until the log satisfies `isMet`. Returns `false` after 20 seconds.
    package func wait(until isMet: (Log) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 20)
        return locked {
            while !isMet(current) {
                if !condition.wait(until: deadline) { return isMet(current) }
            }
            return true
        }
    }

    /// Closes all connections. Later connections are accepted, but the server neither reads nor writes.
    package func silence() {
        locked {
            isSilent = true
            for client in clients { shutdown(client, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes the listening socket and all connections.
    package func stop() {
        locked {
            guard !isStopped else { return }
            isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            for client in clients { shutdown(client, Int32(SHUT_RDWR)) }
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    private func note(_ change: (inout Log) -> Void) {
        locked {
            change(&current)
            condition.broadcast()
        }
    }

    private func welcome(_ client: Int32) {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        let isWelcome = locked { isStopped ? false : clients.insert(client).inserted }
        guard isWelcome else {
            close(client)
            return
        }
        guard !locked({ isSilent }) else { return note { $0.silent += 1 } }  // the end of the process closes it
        Thread.detachNewThread {
            // A write to a closed connection must not end the process.
            var signals = sigset_t()
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            if let connection = Connection(self.context, client) { self.serve(connection) }
            self.locked {
                self.clients.remove(client)
                close(client)
            }
        }
    }

    private func serve(_ connection: Connection) {
        guard connection.isHTTP2 else { return note { $0.refused += 1 } }
        var number = 0
        note { log in
            log.connections += 1
            number = log.connections
        }
        defer { note { $0.ended += 1 } }
        // The preface of the client, and the settings of this server (RFC 9113, 3.4).
        guard connection.read(24) != nil, connection.send(Frame(.settings)) else { return }
        while let head = connection.read(9) {
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard let payload = connection.read(count) else { return }
            let stream = UInt32(bytes: head[5...]) & 0x7fff_ffff
            switch (head[3], head[4] & 1) {
            case (Frame.Kind.headers.rawValue, _):
                let weight = head[4] & 0x20 == 0 ? nil : Int(payload[4]) + 1
                var count = 0
                note { log in
                    log.requests += 1
                    count = log.requests
                }
                handler(Request(connection: number, number: count, stream: stream, weight: weight), connection)
            case (Frame.Kind.reset.rawValue, _): note { $0.resets.append(stream) }
            case (Frame.Kind.settings.rawValue, 0):
                note { log in
                    for start in stride(from: 0, to: payload.count - 5, by: 6) {
                        let name = UInt16(payload[start]) << 8 | UInt16(payload[start + 1])
                        log.settings[name] = UInt32(bytes: payload[(start + 2)...])
                    }
                }
                guard connection.send(Frame(.settings, flags: 1)) else { return }
            case (Frame.Kind.ping.rawValue, 0):
                guard connection.send(Frame(.ping, flags: 1, payload)) else { return }
            default: break
            }
        }
    }

    /// A frame of HTTP/2 (RFC 9113, 4.1).
    package struct Frame {
        package enum Kind: UInt8 {
            case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
        }

        package let bytes: [UInt8]

        package init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
            let count = payload.count
            let length = [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)]
            bytes = length + [kind.rawValue, flags] + stream.bytes + payload
        }

        /// A header with status 200 and these fields, whose names are in lower case.
        package static func head(_ stream: UInt32, _ fields: [(String, String)] = [], isLast: Bool = false) -> Frame {
            Frame(.headers, flags: isLast ? 5 : 4, stream: stream, [0x88] + fields.flatMap(field))
        }

        /// A part of the body; at most 16 KiB.
        package static func body(_ stream: UInt32, _ bytes: [UInt8], isLast: Bool = true) -> Frame {
            Frame(.data, flags: isLast ? 1 : 0, stream: stream, bytes)
        }

        package static func reset(_ stream: UInt32, _ error: UInt32) -> Frame {
            Frame(.reset, stream: stream, error.bytes)
        }

        /// The client may try the streams after `last` again on another connection.
        package static func goAway(last: UInt32) -> Frame { Frame(.goAway, last.bytes + UInt32(0).bytes) }

        /// A literal field that is not added to the table of fields (RFC 7541, 6.2.2); at most 126 bytes each.
        package static func field(_ name: String, _ value: String) -> [UInt8] {
            [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
    }

    /// The server's side of a connection.
    package final class Connection {
        private let descriptor: Int32
        private let tls: OpaquePointer

        fileprivate init?(_ context: OpaquePointer, _ descriptor: Int32) {
            self.descriptor = descriptor
            tls = SSL_new(context)
            SSL_set_fd(tls, descriptor)
            guard SSL_accept(tls) == 1 else { return nil }
        }

        deinit { SSL_free(tls) }

        fileprivate var isHTTP2: Bool {
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(tls, &name, &length)
            return length == 2
        }

        /// Returns `false` if the client has closed the connection.
        @discardableResult
        package func send(_ frames: Frame...) -> Bool {
            let bytes = frames.flatMap(\.bytes)
            return SSL_write(tls, bytes, Int32(bytes.count)) == bytes.count
        }

        /// Closes the connection without a word.
        package func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

        fileprivate func read(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            var received = 0
            while received < count {
                let more = bytes.withUnsafeMutableBytes {
                    SSL_read(tls, $0.baseAddress! + received, Int32(count - received))
                }
                guard more > 0 else { return nil }
                received += Int(more)
            }
            return bytes
        }
    }
}

extension UInt32 {
    fileprivate init(bytes: ArraySlice<UInt8>) { self = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    fileprivate var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(self >> $0 & 255) } }
}
