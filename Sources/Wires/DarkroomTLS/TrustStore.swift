internal import CTLS
import Glibc

/// Parsed certificates of authorities, and the sessions of the servers whose certificates these authorities have
/// signed.
final class TrustStore: @unchecked Sendable {  // OpenSSL locks the store; it is not changed after `init`
    /// The size in bytes of the largest file that is read. Debian's file has 220 KB.
    static let maxBytes = 16 << 20

    private let store: OpaquePointer
    let sessions = TLSSessions()

    /// Returns nil if the file does not exist or is not readable. Does not open the file, because it may be a pipe.
    static func status(of file: String) -> (isRegular: Bool, size: Int)? {
        var status = stat()
        guard stat(file, &status) == 0, access(file, R_OK) == 0 else { return nil }
        return (status.st_mode & S_IFMT == S_IFREG, Int(status.st_size))
    }

    /// Reads certificates. Returns nil if `file` cannot be read, is too large, or is not a PEM file with at least one
    /// certificate.
    /// - Parameters:
    ///   - file: a file of certificates.
    ///   - folder: a folder with certificates in files that `openssl rehash` has named. OpenSSL looks there for
    ///     authorities that are not in `file`.
    init?(file: String?, folder: String?) {
        store = X509_STORE_new()!  // fails only if memory is exhausted
        if let file {
            guard let status = Self.status(of: file), status.isRegular, status.size <= Self.maxBytes,
                X509_STORE_load_file(store, file) == 1
            else {
                ERR_clear_error()
                return nil  // `deinit` frees the store
            }
        }
        if let folder { X509_STORE_load_path(store, folder) }
        // libcurl sets the same flags. A certificate in the file is trusted even if another authority has signed it.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
    }

    deinit { X509_STORE_free(store) }

    /// Makes the connections of `context`, an `SSL_CTX`, trust these authorities only.
    func attach(to context: OpaquePointer) { SSL_CTX_set1_cert_store(context, store) }
}
