import DarkroomConcurrency
import DarkroomFiles

/// Thumbnails on the disk, up to a number of bytes. If there are more, the least recently used files are removed.
///
/// A file that cannot be written does no harm: the thumbnail is made again at the next request.
final class ThumbnailCache: Sendable {
    private struct State {
        var files: [String: (bytes: Int, used: Int)] = [:]
        var bytes = 0
        /// Counts the uses of all files.
        var uses = 0
    }

    private let folder: Folder
    private let maxBytes: Int
    private let state = Locked(State())

    /// Opens or creates the cache in a folder that only the user of this process can use.
    init(in parent: Folder, maxBytes: Int) throws(SystemFailure) {
        folder = try parent.makePrivateFolder("thumbnails")
        self.maxBytes = maxBytes
        for name in try folder.names() {
            // Files that were being written when an earlier server ended begin with a dot.
            guard !name.hasPrefix("."), let status = try folder.status(of: name) else {
                try folder.removeTree(name)
                continue
            }
            state.withLock { state in
                state.files[name] = (Int(status.st_size), 0)
                state.bytes += Int(status.st_size)
            }
        }
        removeSurplus()
    }

    subscript(key: String) -> [UInt8]? {
        get {
            let isKnown = state.withLock { state in
                guard state.files[key] != nil else { return false }
                state.uses += 1
                state.files[key]?.used = state.uses
                return true
            }
            guard isKnown else { return nil }
            // If another program has removed the file, the thumbnail is made again.
            return try? folder.contents(of: key, maxBytes: 1 << 24)
        }
        set {
            guard let newValue, (try? folder.replace(key, with: newValue)) != nil else { return }  // see above
            state.withLock { state in
                state.uses += 1
                state.bytes += newValue.count - (state.files[key]?.bytes ?? 0)
                state.files[key] = (newValue.count, state.uses)
            }
            removeSurplus()
        }
    }

    /// The bytes of all files.
    var bytes: Int { state.withLock { $0.bytes } }

    private func removeSurplus() {
        let removed = state.withLock { state -> [String] in
            guard state.bytes > maxBytes else { return [] }
            var removed: [String] = []
            // Removes a tenth at a time, since the search for the oldest files sorts all files.
            for (name, file) in state.files.sorted(by: { $0.value.used < $1.value.used }) {
                guard state.bytes > maxBytes / 10 * 9 else { break }
                state.bytes -= file.bytes
                state.files[name] = nil
                removed.append(name)
            }
            return removed
        }
        for name in removed { try? folder.remove(name) }  // the next start counts it again
    }
}
