internal import CCrypto

/// Computes a SHA-256 digest piece by piece. Uses libcrypto's EVP functions, which use SHA instructions of the
/// processor.
///
/// Only one thread at a time may use a digest.
package final class SHA256Digest {
    /// The length of a digest in bytes.
    package static let byteCount = 32

    private let context: OpaquePointer

    package init() {
        // EVP_MD_CTX_new fails only if memory is exhausted.
        context = EVP_MD_CTX_new()!
        begin()
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes to the digest.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        let status = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(status == 1, "EVP_DigestUpdate")
    }

    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Returns the digest of all added bytes (32 bytes), and resets the object.
    package func finalize() -> [UInt8] {
        defer { begin() }
        return [UInt8](unsafeUninitializedCapacity: Self.byteCount) { output, count in
            let status = EVP_DigestFinal_ex(context, output.baseAddress, nil)
            precondition(status == 1, "EVP_DigestFinal_ex")
            count = Self.byteCount
        }
    }

    /// Computes the digest of `bytes` (32 bytes).
    package static func hash(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
            let status = EVP_Digest(bytes.baseAddress, bytes.count, output.baseAddress, nil, EVP_sha256(), nil)
            precondition(status == 1, "EVP_Digest")
            count = byteCount
        }
    }

    package static func hash(of bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { hash(of: $0) } }

    private func begin() {
        // Fails only if libcrypto was built or configured without SHA-256.
        let status = EVP_DigestInit_ex(context, EVP_sha256(), nil)
        precondition(status == 1, "libcrypto has no SHA-256")
    }
}
