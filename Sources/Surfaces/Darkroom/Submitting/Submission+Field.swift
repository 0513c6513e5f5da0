import DarkroomRecipes

extension Submission {
    /// A field of the form, as errors name it. The raw value is the name of the property. More fields may be added, so
    /// a `switch` over them needs a default.
    public enum Field: String, Sendable, CaseIterable {
        /// The photos, and how they are read: ``PhotoList``.
        case list, isRecursive, urlColumn, nameColumn, quotes, limit, sample, seed
        /// What is made of each photo.
        case filters, renditions, encoding, damagedPhotos, keepsAnimations
        /// The settings of ``PhotoEncoding``.
        case format, quality, lossless, effort, progressive, chroma, palette, maxBytes, metadata, background, srgb, hdr
        /// The files.
        case output, remoteOutput, originals, fileName, overwrite, redactURLs, keepsTimes
        /// The batch in the queue.
        case name, priority, after, afterSuccess, webhook, operationSize, lease, window, retain, replicas

        /// The setting of the encoding; nil for another field.
        package var setting: EncodingSetting? {
            self == .maxBytes ? .maxBytes : EncodingSetting(rawValue: rawValue)
        }

        package init(_ setting: EncodingSetting) {
            self =
                switch setting {
                case .format: .format
                case .quality: .quality
                case .lossless: .lossless
                case .effort: .effort
                case .progressive: .progressive
                case .chroma: .chroma
                case .palette: .palette
                case .maxBytes: .maxBytes
                case .metadata: .metadata
                case .background: .background
                case .srgb: .srgb
                case .hdr: .hdr
                }
        }
    }
}

/// The value of a field of a ``Submission`` is invalid.
///
/// Each surface has its own names for the fields: a command names its option, the HTTP API names its field.
package struct FieldError: Error, Sendable, CustomStringConvertible {
    package typealias Names = (Submission.Field) -> String

    package let field: Submission.Field
    /// The value as the message shows it; nil if it is not shown.
    private let value: String?
    private let problem: @Sendable (_ name: Names) -> String
    /// Two lines that show the position of the mistake in a text; nil for other mistakes.
    package let pointed: String?

    /// - Parameter problem: Returns the problem; its argument returns the names of other fields.
    package init(
        _ field: Submission.Field, _ value: String? = nil, pointed: String? = nil,
        problem: @escaping @Sendable (_ name: Names) -> String
    ) {
        self.field = field
        self.value = value
        self.pointed = pointed
        self.problem = problem
    }

    /// - Parameters:
    ///   - value: The value as the message shows it.
    ///   - problem: What is wrong with the value, or which values are accepted.
    package init(_ field: Submission.Field, _ value: String, _ problem: String) {
        self.init(field, value) { _ in problem }
    }

    /// - Parameter problem: What is wrong with the value. The message does not show the value.
    package init(_ field: Submission.Field, _ problem: String) { self.init(field) { _ in problem } }

    /// The message with the names of a surface, for example `--limit 0: at least 1`.
    package func message(_ name: Names) -> String {
        name(field) + (value.map { " " + $0 } ?? "") + ": " + problem(name)
    }

    /// The message with the names of the properties.
    package var description: String { message(\.rawValue) }
}

extension FieldError {
    /// Throws if a number is given and less than `least`.
    static func require(_ least: Int, _ number: Int?, _ field: Submission.Field) throws(FieldError) {
        if let number, number < least { throw FieldError(field, "\(number)", "at least \(least)") }
    }

    /// Calls `body`, which parses a text of the field.
    static func parsing<Value>(
        _ field: Submission.Field, _ text: String? = nil, _ body: () throws(ChainSyntaxError) -> Value
    ) throws(FieldError) -> Value {
        do throws(ChainSyntaxError) {
            return try body()
        } catch {
            throw FieldError(field, text.map { "\"\($0)\"" }, pointed: error.pointed) { _ in "\(error)" }
        }
    }
}
