/// Compressed bytes that cannot be turned back into plain ones.
package struct CodingError: Error, Equatable, CustomStringConvertible {
    /// What is wrong with the bytes; trying again with the same bytes never helps.
    package struct Code: Equatable, Sendable {
        private enum Value { case damaged, truncated, tooLarge }
        private let value: Value

        /// The bytes are not what a compressor wrote.
        package static let damaged = Code(value: .damaged)
        /// The bytes end before their stream does.
        package static let truncated = Code(value: .truncated)
        /// The plain bytes are more than the caller takes.
        package static let tooLarge = Code(value: .tooLarge)
    }

    /// What is wrong with the bytes.
    package let code: Code
    /// What was found, as a sentence without its subject: "ends within the compressed data".
    package let message: String

    /// The message.
    package var description: String { message }
}
