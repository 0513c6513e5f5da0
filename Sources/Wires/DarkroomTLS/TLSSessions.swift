internal import CTLS
import DarkroomConcurrency

/// The latest TLS session of each server. If a session is resumed, the server sends no certificates (RFC 8446, 2.2).
///
/// DESIGN. libcurl 7.88 keeps the sessions of 5 servers for each handle, so the sessions of a list with many hosts would
/// be lost. This type keeps the sessions in their serialized form, which contains the certificate of the server but not
/// the certificate chain. The size of the chain is up to the server. Early data (0-RTT) is never sent.
final class TLSSessions: Sendable {
    /// The largest number of servers whose sessions are kept.
    static let limit = 1_000
    /// The size in bytes of the largest serialized session that is kept. Usual sessions have 2 to 4 KB.
    static let maxBytes = 8 << 10

    private let kept = Locked(Kept())

    private struct Kept {
        var sessions: [String: [UInt8]] = [:]
        /// The servers in the order in which they were added, as a ring buffer. The oldest server is at `oldest`.
        var servers: [String] = []
        var oldest = 0
    }

    /// The number of servers whose sessions are kept.
    var count: Int { kept.withLock { $0.sessions.count } }

    /// Makes a connection resume the session of `server`, and keeps the new sessions of the connection here. `context`
    /// is the `SSL_CTX` that libcurl has made for this connection.
    /// - Parameter server: the host and the port of the server.
    func attach(to context: OpaquePointer, server: String) {
        let link = Unmanaged.passRetained(Link(sessions: self, server: server))
        guard SSL_CTX_set_ex_data(context, Self.index, link.toOpaque()) == 1 else { return link.release() }
        // libcurl turns tickets off, but many servers have no other sessions with TLS 1.2.
        SSL_CTX_clear_options(context, darkroom_ssl_op_no_ticket)
        darkroom_ssl_report_sessions(context)
        SSL_CTX_sess_set_new_cb(context) { connection, session in
            guard let connection, let session, let link = TLSSessions.link(of: connection),
                SSL_get_verify_result(connection) == X509_V_OK
            else { return 0 }
            link.sessions.keep(TLSSessions.bytes(of: session), of: link.server)
            return 0  // the callback keeps no reference to the session
        }
        // libcurl creates the connection (`SSL`) only after this method. Therefore the session is set when the
        // handshake of the connection begins.
        SSL_CTX_set_info_callback(context) { connection, event, _ in
            guard let connection, let link = TLSSessions.link(of: connection) else { return }
            if event & SSL_CB_HANDSHAKE_START != 0 { link.begin(connection) }
            if event & SSL_CB_HANDSHAKE_DONE != 0 { link.isAccepted() }
        }
    }

    func has(_ server: String) -> Bool { kept.withLock { $0.sessions[server]?.isEmpty == false } }

    /// Keeps the serialized `session` unless it is too large.
    func keep(_ session: [UInt8], of server: String) {
        guard !session.isEmpty, session.count <= Self.maxBytes else { return }
        kept.withLock { kept in
            guard kept.sessions.updateValue(session, forKey: server) == nil else { return }
            guard kept.servers.count == Self.limit else { return kept.servers.append(server) }
            kept.sessions[kept.servers[kept.oldest]] = nil
            kept.servers[kept.oldest] = server
            kept.oldest = (kept.oldest + 1) % Self.limit
        }
    }

    /// Forgets `session` if it is still the latest session of `server`. The server keeps its place in the ring buffer.
    private func forget(_ session: [UInt8], of server: String) {
        kept.withLock { kept in
            if kept.sessions[server] == session { kept.sessions[server] = [] }
        }
    }

    private static func bytes(of session: OpaquePointer) -> [UInt8] {
        let size = Int(i2d_SSL_SESSION(session, nil))
        guard size > 0, size <= maxBytes else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var next = buffer.baseAddress
            count = max(0, Int(i2d_SSL_SESSION(session, &next)))
        }
    }

    private static func link(of connection: OpaquePointer) -> Link? {
        guard let context = SSL_get_SSL_CTX(connection), let link = SSL_CTX_get_ex_data(context, index) else {
            return nil
        }
        return Unmanaged<Link>.fromOpaque(link).takeUnretainedValue()
    }

    /// The index under which an `SSL_CTX` stores its `Link`. When the `SSL_CTX` is freed, it releases the link.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, link, _, _, _, _ in
        if let link { Unmanaged<Link>.fromOpaque(link).release() }
    }

    /// Connects the `SSL_CTX` of one connection with the sessions of its server. Only the thread of the connection uses
    /// the link.
    private final class Link {
        let sessions: TLSSessions
        let server: String
        /// The session that the connection has offered to the server, until the handshake has succeeded.
        private var offered: [UInt8] = []

        init(sessions: TLSSessions, server: String) {
            self.sessions = sessions
            self.server = server
        }

        /// If the handshake has not succeeded, forgets the session that this connection has offered. A server may close
        /// connections that offer a session, for example after a change of its software. Further connections to this
        /// server then do a full handshake.
        deinit { if !offered.isEmpty { sessions.forget(offered, of: server) } }

        func begin(_ connection: OpaquePointer) {
            let bytes = sessions.kept.withLock { $0.sessions[server] } ?? []
            guard !bytes.isEmpty, SSL_get_session(connection) == nil else { return }
            let session = bytes.withUnsafeBufferPointer { buffer in
                var next = buffer.baseAddress
                return d2i_SSL_SESSION(nil, &next, buffer.count)
            }
            guard let session else { return }
            if SSL_set_session(connection, session) == 1 { offered = bytes }
            SSL_SESSION_free(session)
        }

        func isAccepted() { offered = [] }
    }
}
