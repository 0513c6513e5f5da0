internal import CCurl

/// The libcurl that is installed.
package enum TransferLibrary {
    /// Its version: `7.88.1`.
    package static var version: String { information.version.map { String(cString: $0) } ?? "unknown" }

    /// The library that it speaks TLS with, as `OpenSSL/3.0.14`; nil when it cannot.
    package static var tlsLibrary: String? {
        guard information.features & CURL_VERSION_SSL != 0 else { return nil }
        return information.ssl_version.map { String(cString: $0) }
    }

    /// Whether names are looked up beside transfers; else each look-up holds up all of them.
    package static var looksUpNamesAsynchronously: Bool { information.features & CURL_VERSION_ASYNCHDNS != 0 }

    // libcurl's constant, which is never freed; what is asked for here is in the first version of the struct.
    private static var information: curl_version_info_data { curl_version_info(CURLVERSION_FIRST).pointee }
}
