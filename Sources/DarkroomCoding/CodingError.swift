/// The error of decompressing bytes.
package struct CodingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure. A retry with the same bytes never helps.
    package struct Code: Equatable, Sendable {
        private enum Value { case damaged, truncated, tooLarge }
        private let value: Value

        /// The bytes are not valid compressed data.
        package static let damaged = Code(value: .damaged)
        /// The bytes end before the end of the compressed stream.
        package static let truncated = Code(value: .truncated)
        /// The decompressed data exceeds the limit that the caller has set.
        package static let tooLarge = Code(value: .tooLarge)
    }

    /// The kind of failure.
    package let code: Code
    /// The failure, as a sentence without a subject, for example "ends within the compressed data".
    package let message: String

    /// The message.
    package var description: String { message }
}
