internal import CCurl
import DarkroomTLS
import DarkroomText
import Foundation

/// Sends and receives bytes without blocking over TCP, TLS or a Unix-domain socket. Uses libcurl with
/// CURLOPT_CONNECT_ONLY. Only one thread at a time may use it.
final class Transport {
    /// The socket, for poll(2).
    let socket: Int32

    private let handle: UnsafeMutableRawPointer
    private let errorText: ErrorText
    private let displayName: String

    private static let libcurlIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Connects. Blocks at most until the connect timeout of the configuration.
    init(_ configuration: RedisConfiguration) throws(RedisError) {
        guard Self.libcurlIsReady, let handle = curl_easy_init() else { fatalError("libcurl does not start") }
        let errorText = ErrorText()
        Self.set(handle, errorText, configuration)

        var socket = curl_socket_t(-1)
        let connected = curl_easy_perform(handle)
        if connected == CURLE_OK { _ = darkroom_curl_easy_getinfo_socket(handle, CURLINFO_ACTIVESOCKET, &socket) }
        guard socket >= 0 else {
            let error = Self.connectError(connected, handle, errorText, configuration)
            curl_easy_cleanup(handle)
            throw error
        }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)

        self.handle = handle
        self.errorText = errorText
        self.socket = socket
        displayName = configuration.displayName
    }

    deinit { curl_easy_cleanup(handle) }

    /// Sends without blocking. Returns the number of bytes sent, or 0 if the call would block. After a result of 0, the
    /// next call must begin with the same bytes at the same address: OpenSSL requires this.
    func send(_ bytes: UnsafeRawBufferPointer) throws(RedisError) -> Int {
        var sent = 0
        return switch curl_easy_send(handle, bytes.baseAddress, bytes.count, &sent) {
        case CURLE_OK: sent
        case CURLE_AGAIN: 0
        case let code: throw lost("sending failed: \(errorText.take() ?? String(cString: curl_easy_strerror(code)))")
        }
    }

    /// Receives available bytes, up to the size of `buffer`. Returns 0 if no bytes are available.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(RedisError) -> Int {
        var received = 0
        return switch curl_easy_recv(handle, buffer.baseAddress, buffer.count, &received) {
        case CURLE_OK where received > 0: received
        case CURLE_OK: throw lost("the server closed the connection")
        case CURLE_AGAIN: 0
        case let code: throw lost("receiving failed: \(errorText.take() ?? String(cString: curl_easy_strerror(code)))")
        }
    }

    private func lost(_ found: String) -> RedisError {
        // If the server rejects the client certificate, it sends a TLS alert after the handshake.
        if found.contains(" alert ") { return RedisError(.tlsFailed, "talk to \(displayName)", found) }
        return RedisError(
            .disconnected, "talk to \(displayName)", "\(found); commands in flight may or may not have been carried out"
        )
    }

    private static func set(
        _ handle: UnsafeMutableRawPointer, _ errorText: ErrorText, _ configuration: RedisConfiguration
    ) {
        func set(_ option: CURLoption, _ value: Int) { _ = darkroom_curl_easy_setopt_long(handle, option, value) }
        func set(_ option: CURLoption, _ value: String) { _ = darkroom_curl_easy_setopt_string(handle, option, value) }

        _ = darkroom_curl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText.buffer)
        set(CURLOPT_CONNECT_ONLY, 1)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROXY, "")  // otherwise libcurl uses http_proxy
        set(CURLOPT_CONNECTTIMEOUT_MS, max(configuration.connectTimeout.wholeMilliseconds, 1))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 15)
        set(CURLOPT_TCP_KEEPINTVL, 5)

        switch configuration.address {
        case .unix(let path):
            set(CURLOPT_URL, "http://localhost")
            set(CURLOPT_UNIX_SOCKET_PATH, path)
        case .tcp(let host, let port):
            let scheme = configuration.tls == nil ? "http" : "https"
            set(CURLOPT_URL, "\(scheme)://\(RedisConfiguration.Endpoint(host: host, port: port))")
        case .sentinels: preconditionFailure("sentinels are asked for a server first (ServerFinder)")
        }
        guard let tls = configuration.tls else { return }
        set(CURLOPT_SSL_ENABLE_ALPN, 0)
        CertificateAuthorities.of(tls.authorities).apply(to: handle, resumesSessions: false)
        if let certificate = tls.certificate { set(CURLOPT_SSLCERT, certificate) }
        if let key = tls.key { set(CURLOPT_SSLKEY, key) }
    }

    private static func connectError(
        _ code: CURLcode, _ handle: UnsafeMutableRawPointer, _ errorText: ErrorText,
        _ configuration: RedisConfiguration
    ) -> RedisError {
        var systemError = 0
        _ = darkroom_curl_easy_getinfo_long(handle, CURLINFO_OS_ERRNO, &systemError)
        let text = errorText.take() ?? String(cString: curl_easy_strerror(code))
        let attempted = "connect to \(configuration.displayName)"
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return RedisError(.cannotConnect, attempted, "no address is known for that host; check its name")
        case CURLE_COULDNT_CONNECT:
            // `systemError` is 0 if the server closed the socket before libcurl checked it.
            let found = systemError == 0 ? "closed at once" : systemErrorText(Int32(systemError))
            return RedisError(.cannotConnect, attempted, "\(found); start a redis-server there, or check the address")
        case CURLE_OPERATION_TIMEDOUT:
            let advice = configuration.tls == nil ? "" : ", and whether the server speaks TLS at this port"
            return RedisError(
                .cannotConnect, attempted,
                "no connection within \(configuration.connectTimeout); check the address, the network, firewalls\(advice)"
            )
        case CURLE_SSL_CONNECT_ERROR where !text.contains("SSL routines") || text.contains("unexpected eof"):
            return RedisError(.cannotConnect, attempted, "\(text); the connection was lost during the TLS handshake")
        case _ where configuration.tls != nil:
            return RedisError(
                .tlsFailed, attempted,
                "\(text); check that the server speaks TLS at this port, and the files for TLS on both sides")
        default:
            return RedisError(.cannotConnect, attempted, "\(text); check the address")
        }
    }
}

/// The buffer for libcurl's error texts (CURLOPT_ERRORBUFFER).
private final class ErrorText {
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init() { buffer.pointee = 0 }
    deinit { buffer.deallocate() }

    /// Returns the last error text and clears the buffer; nil if the buffer is empty.
    func take() -> String? {
        defer { buffer.pointee = 0 }
        return buffer.pointee == 0 ? nil : String(cString: buffer)
    }
}
