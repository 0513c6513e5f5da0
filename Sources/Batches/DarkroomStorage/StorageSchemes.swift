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

    /// The canonical form of a location that a user names: a place, or a location that contains places.
    /// - Parameters:
    ///   - text: not empty.
    ///   - absolute: makes the path of a folder absolute.
    package static func location(
        _ text: String, absolute: (String) -> String = { $0 }
    ) throws(StorageError) -> String {
        try kind(of: text).canonical(isPath(text) ? absolute(text) : text)
    }

    private static func kind(of location: String) -> any StoragePlace.Type {
        // If the text has no known beginning and is not a path either, the checks of folders report the defect.
        all.first { location.hasPrefix($0.beginning) } ?? OutputFolder.self
    }
}
