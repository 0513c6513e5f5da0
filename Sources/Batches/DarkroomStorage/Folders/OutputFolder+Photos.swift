import DarkroomFiles
import Glibc

extension OutputFolder {
    /// An output folder in the folder of photos is allowed, because the output folder is skipped when the list is read.
    package func mixes(with photos: String, renditions: [String]) -> Bool {
        // Compares file systems and file numbers, so that links, dots and repeated slashes in a path do not matter. An
        // output folder that does not exist yet contains no photos.
        guard let output = FileIdentity(path) else { return false }
        var names: [String] = []
        var folder = photos
        while FileIdentity(folder) != output {
            let (above, name) = Path.split(folder)
            guard let above, !name.isEmpty else { return false }
            names.insert(name, at: 0)
            folder = above.isEmpty ? "/" : above
        }
        // Files are in the output folder or in a folder for each rendition, and there in a folder for each 10,000 photos.
        if let first = names.first, renditions.contains(first) { names.removeFirst() }
        let isNumber = names.first.map { $0.utf8.count >= 5 && $0.utf8.allSatisfy { (48...57).contains($0) } } ?? true
        return names.count < 2 && isNumber
    }
}

/// The identity of a file or folder, which is the same for all paths that lead to it.
private struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Follows links. Returns nil if the file cannot be examined.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
