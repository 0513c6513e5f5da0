/// The kinds of places for results.
package enum StorageSchemes {
    /// By the beginning of the text.
    private static let all: [(prefix: String, place: @Sendable (String) -> any StoragePlace)] = [
        ("/", { OutputFolder(path: $0) })
    ]

    /// The place of a batch's output.
    /// - Parameter output: see `BatchOptions.output`; not empty.
    package static func place(_ output: String) -> any StoragePlace {
        // The checks of folders report what is wrong with a text that has no known prefix.
        all.first { output.hasPrefix($0.prefix) }?.place(output) ?? OutputFolder(path: output)
    }
}
