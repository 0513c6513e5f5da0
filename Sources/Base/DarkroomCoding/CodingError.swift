/// The error that decompression throws.
package struct CodingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure. A retry with the same bytes helps only after ``outOfMemory``.
    package enum Code: Sendable {
        /// The bytes are not valid compressed data.
        case damaged
        /// The bytes end before the end of the compressed stream.
        case truncated
        /// The decompressed data exceeds the limit that the caller has set.
        case tooLarge
        /// There is not enough memory.
        case outOfMemory
    }

    /// The kind of failure.
    package let code: Code
    /// The failure, as a sentence without a subject, for example "ends within the compressed data".
    package let message: String

    /// The message.
    package var description: String { message }
}
