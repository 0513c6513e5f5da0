/// The rules of a worker for the places of batches.
package struct StorageRules: Sendable {
    /// The locations in which the worker writes, see ``StoragePlace/isIn(_:)``; empty if the worker writes to every
    /// place.
    package var places: [String]
    /// Whether the batch lets workers create its place, see `BatchOptions.remoteOutput`.
    package var isRemote: Bool
    package var folders: FolderRules

    package init(places: [String], isRemote: Bool, folders: FolderRules) {
        self.places = places
        self.isRemote = isRemote
        self.folders = folders
    }

    /// Whether the worker creates missing places. The worker creates places only in ``places``, so that nothing is
    /// written if a share is not mounted.
    package var makesPlaces: Bool { isRemote && !places.isEmpty }
}
