import DarkroomCoordinator
import DarkroomStorage

extension BatchOptions {
    /// Throws if files of the batch would be photos of the list when the folder of photos is read again.
    /// - Parameter photos: The real path of the folder of photos.
    func requireApart(from photos: String) throws(CoordinatorError) {
        let place = StorageSchemes.place(output)
        guard place.mixes(with: photos, renditions: renditions.map(\.name)) else { return }
        throw CoordinatorError(
            .outputDenied,
            "\(place.title): its files would be in the folder of the photos, \(photos), and the next run would develop "
                + "them again; choose another folder")
    }
}
