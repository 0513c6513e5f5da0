internal import CCurl

package enum TransferLibrary {
    /// The version of libcurl, for example `7.88.1`.
    package static var version: String { information.version.map { String(cString: $0) } ?? "unknown" }

    /// The TLS library of libcurl, for example `OpenSSL/3.0.14`; nil if libcurl does not support TLS.
    package static var tlsLibrary: String? {
        guard information.features & CURL_VERSION_SSL != 0 else { return nil }
        return information.ssl_version.map { String(cString: $0) }
    }

    /// Whether name lookups run concurrently with transfers. If not, each lookup delays all transfers.
    package static var looksUpNamesAsynchronously: Bool { information.features & CURL_VERSION_ASYNCHDNS != 0 }

    // A constant of libcurl that is never freed. The fields used here exist in all versions of the struct.
    private static var information: curl_version_info_data { curl_version_info(CURLVERSION_FIRST).pointee }
}
