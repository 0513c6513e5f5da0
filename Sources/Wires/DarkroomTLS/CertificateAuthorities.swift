internal import CCurl
internal import CTLS
import DarkroomConcurrency
import DarkroomFiles
import Foundation

/// The certificate authorities that may sign the certificates of servers. All TLS connections of this process share the
/// parsed authorities, because libcurl would read and parse the file for each connection (12 ms of processor time for
/// Debian's file).
///
/// The file is read again after it has changed. Connections that are already open stay open.
package final class CertificateAuthorities: Sendable {
    private static let known = Locked<[String?: CertificateAuthorities]>([:])

    private let file: String?
    private let folder: String?
    private let checkInterval: Duration
    private let latest = Locked<Reading?>(nil)
    private let reading = NSLock()

    private struct Reading {
        let number: Int
        /// The parsed authorities; nil if the file has never been readable. If the last reading failed, these are the
        /// authorities of the last successful reading.
        let store: TrustStore?
        let stamps: [FileStamp?]
        var checked: ContinuousClock.Instant
    }

    /// The number of times that the file was read.
    var readings: Int { latest.withLock { $0?.number ?? 0 } }

    /// Returns the authorities of a PEM file, or the authorities of the system if `file` is nil. The returned object
    /// exists until the process ends.
    package static func of(_ file: String?) -> CertificateAuthorities {
        known.withLock { known in
            if let found = known[file] { return found }
            let new = CertificateAuthorities(file)
            known[file] = new
            return new
        }
    }

    /// - Parameter checkInterval: the interval between checks whether the file has changed.
    init(_ file: String?, checkInterval: Duration = .seconds(1)) {
        self.checkInterval = checkInterval
        let library = curl_version_info(CURLVERSION_SEVENTH).pointee
        self.file = file ?? library.cainfo.map { String(cString: $0) }
        folder = file == nil ? library.capath.map { String(cString: $0) } : nil
    }

    /// The reason why the certificates of `file` cannot be used, as a clause without a subject; nil if they can.
    package static func problem(of file: String) -> String? {
        guard let status = TrustStore.status(of: file) else { return "no such file, or not one that can be read" }
        guard status.isRegular else { return "not a regular file" }
        guard status.size <= TrustStore.maxBytes else { return "larger than \(TrustStore.maxBytes >> 20) MiB" }
        return TrustStore(file: file, folder: nil) == nil ? "not a file of certificates in PEM format" : nil
    }

    /// Makes a libcurl handle check the certificates of servers and of proxies with these authorities. If the file
    /// cannot be read, the connections of the handle fail with libcurl's error for an unreadable file.
    /// - Parameter resumesSessions: whether a connection may resume the TLS session of an earlier connection to the same
    ///   host and port. Must be false for handles with a client certificate, because a session is valid only for one
    ///   client certificate.
    package func apply(to curl: UnsafeMutableRawPointer, resumesSessions: Bool) {
        for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] {
            darkroom_curl_easy_setopt_string(curl, option, file)
        }
        for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] {
            darkroom_curl_easy_setopt_string(curl, option, folder)
        }
        guard Self.isPossible, store() != nil else { return }
        // If these options stayed set, libcurl would add the certificates to the shared store again.
        for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] {
            darkroom_curl_easy_setopt_string(curl, option, nil)
        }
        darkroom_curl_easy_setopt_long(curl, CURLOPT_CA_CACHE_TIMEOUT, 0)
        darkroom_curl_easy_setopt_long(curl, CURLOPT_SSL_SESSIONID_CACHE, 0)
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
        let prepare: curl_ssl_ctx_callback =
            resumesSessions
            ? { curl, context, authorities in
                guard let store = CertificateAuthorities.at(authorities).store(), let curl, let context else {
                    return CURLE_SSL_CACERT_BADFILE
                }
                store.attach(to: OpaquePointer(context))
                store.sessions.attach(to: OpaquePointer(context), server: CertificateAuthorities.server(of: curl))
                return CURLE_OK
            }
            : { _, context, authorities in
                guard let store = CertificateAuthorities.at(authorities).store(), let context else {
                    return CURLE_SSL_CACERT_BADFILE
                }
                store.attach(to: OpaquePointer(context))
                return CURLE_OK
            }
        darkroom_curl_easy_setopt_ssl_ctx_callback(curl, CURLOPT_SSL_CTX_FUNCTION, prepare)
    }

    /// Whether libcurl uses the same OpenSSL library as this process.
    private static let isPossible: Bool = {
        guard let used = curl_version_info(CURLVERSION_SEVENTH).pointee.ssl_version else { return false }
        return String(cString: used).hasPrefix("OpenSSL/\(OPENSSL_version_major()).")
    }()

    private static func at(_ context: UnsafeMutableRawPointer?) -> CertificateAuthorities {
        Unmanaged.fromOpaque(context!).takeUnretainedValue()  // `apply` sets the context
    }

    /// The host and port of the current request of `curl`, excluding user and password.
    private static func server(of curl: UnsafeMutableRawPointer) -> String {
        var text: UnsafePointer<CChar>?
        darkroom_curl_easy_getinfo_string(curl, CURLINFO_EFFECTIVE_URL, &text)
        let url = curl_url()
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return "" }
        func part(_ part: CURLUPart) -> String {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, part, &value, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let value else { return "" }
            defer { curl_free(value) }
            return String(cString: value)
        }
        return part(CURLUPART_HOST).lowercased() + ":" + part(CURLUPART_PORT)
    }

    /// The parsed authorities; nil if the file has never been readable. Only one thread at a time reads the file. Until
    /// this thread has finished, other threads use the earlier authorities, if there are any.
    private func store() -> TrustStore? {
        if let known = latest.withLock({ $0 }) {
            guard .now - known.checked >= checkInterval, reading.try() else { return known.store }
        } else {
            reading.lock()
        }
        defer { reading.unlock() }
        let known = latest.withLock { $0 }  // another thread may have read the file since the first check
        if let known, .now - known.checked < checkInterval { return known.store }
        // The status is read before the file. If the file changes in between, the next check notices the change.
        let stamps = [file, folder].map { $0.flatMap(FileStamp.init(path:)) }
        let isUnchanged = known?.stamps == stamps
        let store = isUnchanged ? known?.store : TrustStore(file: file, folder: folder) ?? known?.store
        let count = (known?.number ?? 0) + (isUnchanged ? 0 : 1)
        latest.withLock { $0 = Reading(number: count, store: store, stamps: stamps, checked: .now) }
        return store
    }
}
