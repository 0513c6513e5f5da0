import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Glibc

/// The results of earlier claims of an operation, read when the operation was claimed.
struct PastLines {
    /// The lines of the final photos, by position.
    private(set) var lines: [[UInt8]?]
    /// Fencing tokens that are higher than the token of this claim. Redis lost these claims when it lost its latest
    /// changes.
    private(set) var forgotten: [Int] = []
    /// Whether the folder could not be read. Then ``lines`` has no lines, and the files of earlier claims must stay.
    private(set) var isUnread = false

    /// Reads the results of earlier claims. For each final photo, takes the line that agrees with the state code; if
    /// several lines agree, takes the line with the highest fencing token. If no line agrees, makes a line from the
    /// state code and the photo's files.
    static func read(_ claimed: ClaimedOperation, _ records: [PhotoRecord], _ storage: FolderStorage) -> PastLines {
        let (held, files) = (claimed.held, storage.files)
        var past = PastLines(lines: [[UInt8]?](repeating: nil, count: records.count))
        let states = claimed.stateCodes.map { PhotoState(stateCode: $0) ?? .new }
        guard !records.isEmpty, claimed.leaseExpiries > 0 || states.contains(where: \.isFinal) else { return past }
        let output: Folder
        var folder: Folder?
        var tokens: [Int] = []
        do throws(SystemFailure) {
            output = try storage.manifestPlace.open()
            folder = try existing(storage.manifestFolder(of: held), in: output)
            if let folder { tokens = try ManifestPath.listedFencingTokens(ofOperation: held.number, in: folder) }
        } catch {
            past.isUnread = true
            return past
        }
        past.forgotten = tokens.filter { $0 > held.fencingToken }
        for token in tokens.sorted(by: >) where token != held.fencingToken {
            let name = ManifestPath.fileName(operation: held.number, fencingToken: token)
            for line in stored(name, in: folder) where line.batch == files.batch {
                let position = line.index - records[0].index
                guard records.indices.contains(position), states[position].isFinal, past.lines[position] == nil,
                    line.state == states[position].word
                else { continue }
                past.lines[position] = line.text(redactingQuery: files.redactsQueries)
            }
        }
        for (position, state) in states.enumerated() where state.isFinal && past.lines[position] == nil {
            past.lines[position] = remade(records[position], state, files, output).text(
                redactingQuery: files.redactsQueries)
        }
        return past
    }

    /// A folder; nil if it does not exist.
    private static func existing(_ path: String, in output: Folder) throws(SystemFailure) -> Folder? {
        do throws(SystemFailure) {
            return try output.folder(path)
        } catch {
            guard error.error == ENOENT else { throw error }
            return nil
        }
    }

    private static func stored(_ name: String, in folder: Folder?) -> [ManifestLine] {
        let decoder = UntrustedJSON()
        // Unreadable lines are skipped. They are recreated from the state codes and the photos' files.
        let text = (try? folder?.contents(of: name, maxBytes: 1 << 28)) ?? []
        return text.split(separator: 10).compactMap { try? decoder.decode(ManifestLine.self, from: $0) }
    }

    /// Recreates the line of a photo from its state and its file.
    private static func remade(
        _ record: PhotoRecord, _ state: PhotoState, _ files: BatchFiles, _ output: Folder
    ) -> ManifestLine {
        var line = ManifestLine(batch: files.batch, record: record, state: state)
        guard state == .filtered else { return line }
        let found = files.kinds.compactMap { find(record, $0, files, output) }
        if !found.isEmpty { line.note(found) }
        return line
    }

    /// Finds the file of a photo by its possible names.
    private static func find(
        _ record: PhotoRecord, _ kind: BatchFiles.Kind, _ files: BatchFiles, _ output: Folder
    ) -> ManifestLine.File? {
        for ending in kind.endings(record) {
            let path = files.path(of: record, kind, ending: ending)
            // A file that cannot be read has another extension, or its facts are left out of the line.
            guard let file = try? output.contents(of: path, maxBytes: 1 << 30) else { continue }
            return ManifestLine.File(
                rendition: kind.rendition, filters: kind.filters, file: path, bytes: file.count,
                sha256: Hexadecimal.text(file.withUnsafeBytes { SHA256Digest.hash(of: $0) }))
        }
        return nil
    }
}
