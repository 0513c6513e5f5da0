internal import CTLS
import DarkroomConcurrency

/// The latest TLS session of each server. A connection that resumes a session needs no certificates (RFC 8446, 2.2).
///
/// DESIGN. libcurl keeps the sessions of 5 servers for each easy handle, or of 8 for handles that share them, so the
/// sessions of a list with many hosts would be lost. Early data (0-RTT) is never sent.
final class TLSSessions: Sendable {
    /// The largest number of servers. A session contains the certificates of its server, about 10 KB.
    static let limit = 1_000

    private let kept = Locked(Kept())

    private struct Kept {
        var sessions: [String: Session] = [:]
        /// The servers in the order in which they were added, as a ring.
        var servers: [String] = []
        var oldest = 0
    }

    /// The number of servers whose sessions are kept.
    var count: Int { kept.withLock { $0.sessions.count } }

    /// Makes the connection of `context`, an `SSL_CTX` that libcurl has made for it, resume the session of `server`, and
    /// keep its own sessions here.
    /// - Parameter server: the scheme, the host and the port.
    func attach(to context: OpaquePointer, server: String) {
        let link = Unmanaged.passRetained(Link(sessions: self, server: server))
        guard SSL_CTX_set_ex_data(context, Self.index, link.toOpaque()) == 1 else { return link.release() }
        SSL_CTX_sess_set_new_cb(context) { connection, session in
            guard let connection, let session, let link = TLSSessions.link(of: connection),
                SSL_get_verify_result(connection) == X509_V_OK
            else { return 0 }
            link.sessions.keep(session, of: link.server)
            return 1  // OpenSSL passes its reference to this function
        }
        // libcurl makes the connection after it has called this method, so its session can only be set when the handshake
        // begins.
        SSL_CTX_set_info_callback(context) { connection, event, _ in
            guard event & SSL_CB_HANDSHAKE_START != 0, let connection,
                SSL_get_session(connection) == nil, let link = TLSSessions.link(of: connection),
                let session = link.sessions.session(of: link.server)
            else { return }
            SSL_set_session(connection, session.pointer)
        }
    }

    private func session(of server: String) -> Session? { kept.withLock { $0.sessions[server] } }

    func has(_ server: String) -> Bool { session(of: server) != nil }

    /// Keeps `session`, an `SSL_SESSION`, and takes over a reference to it.
    func keep(_ session: OpaquePointer, of server: String) {
        let session = Session(session)
        // The replaced sessions are freed after the lock is released.
        let replaced: [Session?] = kept.withLock { kept in
            if let old = kept.sessions.updateValue(session, forKey: server) { return [old] }
            guard kept.servers.count == Self.limit else {
                kept.servers.append(server)
                return []
            }
            let removed = kept.sessions.removeValue(forKey: kept.servers[kept.oldest])
            kept.servers[kept.oldest] = server
            kept.oldest = (kept.oldest + 1) % Self.limit
            return [removed]
        }
        _ = replaced
    }

    private static func link(of connection: OpaquePointer) -> Link? {
        guard let context = SSL_get_SSL_CTX(connection), let link = SSL_CTX_get_ex_data(context, index) else {
            return nil
        }
        return Unmanaged<Link>.fromOpaque(link).takeUnretainedValue()
    }

    /// The place of the `Link` in an `SSL_CTX`, which releases the link when it is freed.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, link, _, _, _, _ in
        if let link { Unmanaged<Link>.fromOpaque(link).release() }
    }

    private final class Link {
        let sessions: TLSSessions
        let server: String

        init(sessions: TLSSessions, server: String) {
            self.sessions = sessions
            self.server = server
        }
    }

    private final class Session: @unchecked Sendable {  // OpenSSL counts the references atomically
        let pointer: OpaquePointer

        /// Takes over a reference to an `SSL_SESSION`.
        init(_ pointer: OpaquePointer) { self.pointer = pointer }

        deinit { SSL_SESSION_free(pointer) }
    }
}
