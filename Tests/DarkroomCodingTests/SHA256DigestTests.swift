import DarkroomCoding
import Testing

@Suite struct SHA256DigestTests {
    /// Examples of FIPS 180-4.
    static let known = [
        "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]

    @Test(arguments: known) func hashesKnownTexts(text: String, digest: String) {
        let bytes = Array(text.utf8)
        #expect(Hexadecimal.text(SHA256Digest.hash(of: bytes)) == digest)
        let incremental = SHA256Digest()
        for _ in 1...2 {  // the second round checks that `finalize` resets the digest
            for byte in bytes { incremental.update([byte]) }
            #expect(Hexadecimal.text(incremental.finalize()) == digest)
        }
    }
}
