import DarkroomModel

/// A photo list of which a batch takes only the selected photos, in the order of the list.
///
/// DESIGN. The indexes of the photos in the batch count the selected photos, because an operation stores only the index
/// of its first photo. Therefore the first photos of a list have the same indexes and file names as in a batch of the
/// whole list. If the whole list is fed to such a batch later, the list counts as a list that has grown. The photos of
/// a sample have other indexes than in the whole list.
///
/// For a sample, the list is first read once to count its photos. Every later reading decides for each photo with
/// ``PhotoSampling``, so the memory does not grow with the list or the sample.
package struct SelectedPhotos: PhotoListSource {
    package let list: PhotoListReader
    package let selection: PhotoSelection
    /// The number of photos in the list when it was opened; nil unless the selection is a sample.
    package let listedPhotos: Int?

    /// Reads the whole list if the selection is a sample. Blocks.
    package init(_ list: PhotoListReader, _ selection: PhotoSelection) throws {
        self.list = list
        self.selection = selection
        guard case .sample = selection else {
            listedPhotos = nil
            return
        }
        try list.read { _ in true }
        listedPhotos = list.photos
        try list.rewind()
    }

    package func read(_ receive: (ListEntry) -> Bool) throws {
        switch selection {
        case .all: try list.read(receive)
        case .first(let count):
            var left = count
            try list.read { entry in
                left -= 1
                return receive(entry) && left > 0
            }
        case .sample(let sample):
            var sampling = PhotoSampling(sample, of: listedPhotos ?? 0)
            try list.read { entry in
                guard sampling.takesNext() else { return true }
                return receive(entry) && !sampling.isComplete
            }
        }
    }

    package func rewind() throws { try list.rewind() }
}
