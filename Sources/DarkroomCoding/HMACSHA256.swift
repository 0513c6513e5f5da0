internal import CCrypto

/// HMAC with SHA-256 (RFC 2104, libcrypto's one-shot function): says that who knows a secret wrote a message.
package enum HMACSHA256 {
    /// The code of `message` under `secret`, 32 bytes. The secret may have any length, also none.
    package static func code(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { output, count in
            var length: UInt32 = 0
            // Given no key at all, libcrypto would go on with that of the call before: one byte stands in for "empty".
            let key = secret.isEmpty ? [0] : secret
            let result = HMAC(
                EVP_sha256(), key, Int32(key.count), message, message.count, output.baseAddress, &length)
            // Fails only when memory is out, or in a libcrypto without SHA-256.
            precondition(result != nil && length == SHA256Digest.byteCount, "HMAC")
            count = SHA256Digest.byteCount
        }
    }
}
