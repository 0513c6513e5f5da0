/// The kinds of places for results.
package enum StorageSchemes {
    private static let all: [any StoragePlace.Type] = [OutputFolder.self]

    /// The place of a batch's output.
    /// - Parameter location: see `BatchOptions.output`; not empty.
    package static func place(_ location: String) -> any StoragePlace {
        kind(of: location).init(location: location)
    }

    /// Whether a location that a user names is the path of a folder: any text without another known beginning.
    package static func isPath(_ text: String) -> Bool { kind(of: text) == OutputFolder.self }

    /// The canonical form of a location that a user names: of a place, or of what contains places.
    /// - Parameters:
    ///   - text: not empty.
    ///   - absolute: makes the path of a folder absolute.
    package static func location(
        _ text: String, absolute: (String) -> String = { $0 }
    ) throws(StorageError) -> String {
        try kind(of: text).canonical(isPath(text) ? absolute(text) : text)
    }

    private static func kind(of location: String) -> any StoragePlace.Type {
        // The checks of folders report what is wrong with a text that has no known beginning.
        all.first { location.hasPrefix($0.beginning) } ?? OutputFolder.self
    }
}
