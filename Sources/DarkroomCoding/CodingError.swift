/// Compressed bytes that cannot be turned back into plain ones.
public struct CodingError: Error, Equatable, CustomStringConvertible {
    /// What is wrong with the bytes; trying again with the same bytes never helps.
    public struct Code: Equatable, Sendable {
        private enum Value { case damaged, truncated, tooLarge }
        private let value: Value

        /// The bytes are not what a compressor wrote.
        public static let damaged = Code(value: .damaged)
        /// The bytes end before their stream does.
        public static let truncated = Code(value: .truncated)
        /// The plain bytes are more than the caller takes.
        public static let tooLarge = Code(value: .tooLarge)
    }

    /// What is wrong with the bytes.
    public let code: Code
    /// What was found, as a sentence without its subject: "ends within the compressed data".
    public let message: String

    /// The message.
    public var description: String { message }
}
