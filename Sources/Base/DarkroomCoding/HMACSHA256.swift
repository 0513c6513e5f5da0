internal import CCrypto

/// HMAC with SHA-256 (RFC 2104), from libcrypto. Proves that a message was written by someone who has the secret.
package enum HMACSHA256 {
    /// The authentication code of `message`, 32 bytes. `secret` may have any length, including 0.
    package static func code(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { output, count in
            var length: UInt32 = 0
            // If the key is NULL, libcrypto uses the key of the previous call. An empty secret is therefore passed as
            // one zero byte, which gives the same result.
            let key = secret.isEmpty ? [0] : secret
            let result = HMAC(
                EVP_sha256(), key, Int32(key.count), message, message.count, output.baseAddress, &length)
            // Fails only if memory is exhausted or libcrypto lacks SHA-256.
            precondition(result != nil && length == SHA256Digest.byteCount, "HMAC")
            count = SHA256Digest.byteCount
        }
    }
}
