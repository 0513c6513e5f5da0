/// The kinds of places for results.
package enum StorageSchemes {
    /// By the beginning of the text.
    private static let all: [(prefix: String, place: @Sendable (String) -> any StoragePlace)] = [
        ("/", { OutputFolder(path: $0) })
    ]

    /// The place of a batch's output.
    /// - Parameter output: see `BatchOptions.output`; not empty.
    package static func place(_ output: String) -> any StoragePlace {
        // A folder reports what is wrong with a text of no known kind.
        all.first { output.hasPrefix($0.prefix) }?.place(output) ?? OutputFolder(path: output)
    }
}
