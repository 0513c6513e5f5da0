/// The failure to decompress bytes.
package struct CodingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure. Trying again with the same bytes never helps.
    package struct Code: Equatable, Sendable {
        private enum Value { case damaged, truncated, tooLarge }
        private let value: Value

        /// The bytes are not valid compressed data.
        package static let damaged = Code(value: .damaged)
        /// The bytes end before the end of the compressed stream.
        package static let truncated = Code(value: .truncated)
        /// The decompressed data exceeds the caller's limit.
        package static let tooLarge = Code(value: .tooLarge)
    }

    /// What is wrong with the bytes.
    package let code: Code
    /// The finding, as a sentence without its subject: "ends within the compressed data".
    package let message: String

    /// The message.
    package var description: String { message }
}
