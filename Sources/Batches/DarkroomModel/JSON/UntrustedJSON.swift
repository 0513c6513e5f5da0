import Foundation

/// Decodes JSON that other processes have written: messages, manifests, replies of helper processes.
///
/// All keys that Darkroom writes are printable ASCII without escapes. Objects with other keys are rejected, because the
/// Foundation decoder of Swift 6.0 crashes if a key contains invalid UTF-8, control characters or invalid escapes.
package struct UntrustedJSON {
    private let decoder = JSONDecoder()

    package init() {}

    /// Decodes a value.
    /// - Throws: `DecodingError`.
    package func decode<Value: Decodable>(_ type: Value.Type, from text: some Sequence<UInt8>) throws -> Value {
        let text = Data(text)
        guard text.withUnsafeBytes(Self.hasPlainKeys) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "no JSON, or a key that is not plain ASCII"))
        }
        return try decoder.decode(type, from: text)
    }

    private static func hasPlainKeys(_ text: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(text)
        var arePlain = true
        do throws(JSONScanner.Failure) {
            try scanner.skipValue { key in
                arePlain = arePlain && !key.hasEscapes && key.raw.allSatisfy { (0x20...0x7e).contains($0) }
            }
        } catch {
            return false
        }
        return arePlain && scanner.peek() == nil
    }
}
