import DarkroomModel

/// The results that the claims of an operation have stored, as a storage reads them when the operation is claimed
/// again.
package protocol PastResults {
    /// The fencing tokens of the claims that have stored lines.
    var fencingTokens: [Int] { get }

    /// The lines of a claim; nil if they do not exist or are not lines that a worker has written.
    /// - Throws: ``StorageFault`` if they exist and cannot be read now.
    func text(fencingToken: Int) throws(StorageFault) -> [UInt8]?

    /// The file of a photo; nil if it does not exist or cannot be read.
    /// - Returns: its size, and its SHA-256 in hexadecimal.
    func file(at path: String) -> (byteCount: Int, sha256: String)?
}

/// The lines of earlier claims of an operation, read when the operation is claimed. All storages use this type.
package struct PastLines: Sendable {
    /// The lines of the final photos, by position.
    package private(set) var lines: [[UInt8]?]
    /// The fencing token of this claim.
    private let fencingToken: Int
    /// Fencing tokens that are higher than the token of this claim. Redis lost these claims when it lost its latest
    /// changes.
    private var forgotten: Set<Int> = []

    /// Reads the lines of earlier claims. For each final photo, takes the line that agrees with the state code; if several
    /// lines agree, takes the line with the highest fencing token. If no line agrees, makes a line from the state code and
    /// the photo's files.
    /// - Parameter open: opens the results of the operation. Called only if earlier claims may have stored lines.
    /// - Throws: ``StorageFault`` if lines of earlier claims may exist and cannot be read now. Lines from state codes
    ///   must not replace them, because such lines lack the details of failures.
    package init(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], _ files: BatchFiles,
        from open: () throws(StorageFault) -> some PastResults
    ) throws(StorageFault) {
        lines = [[UInt8]?](repeating: nil, count: records.count)
        fencingToken = claimed.held.fencingToken
        let states = claimed.stateCodes.map { PhotoState(stateCode: $0) ?? .new }
        guard !records.isEmpty, claimed.leaseExpiries > 0 || states.contains(where: \.isFinal) else { return }
        let results = try open()
        let tokens = results.fencingTokens
        forgotten = Set(tokens.filter { $0 > fencingToken })
        for token in tokens.sorted(by: >) where token != fencingToken {
            guard let text = try results.text(fencingToken: token) else { continue }
            ManifestText.forEachSoundLine(of: text) { line in
                let position = line.index - records[0].index
                guard line.batch == files.batch, records.indices.contains(position), states[position].isFinal,
                    lines[position] == nil, line.state == states[position].word
                else { return }
                lines[position] = line.text(redactingQuery: files.redactsQueries)
            }
        }
        for (position, state) in states.enumerated() where state.isFinal && lines[position] == nil {
            lines[position] = Self.line(of: records[position], state, files, results).text(
                redactingQuery: files.redactsQueries)
        }
    }

    /// The line of a photo, from its state and its files.
    private static func line(
        of record: PhotoRecord, _ state: PhotoState, _ files: BatchFiles, _ results: some PastResults
    ) -> ManifestLine {
        var line = ManifestLine(batch: files.batch, record: record, state: state)
        guard state == .filtered else { return line }
        let found = files.kinds.compactMap { kind in
            // If a file cannot be read, the next extension is tried. Without a readable file, the line has no facts
            // about the file.
            kind.endings(record).lazy.compactMap { ending in
                let path = files.path(of: record, kind, ending: ending)
                return results.file(at: path).map { byteCount, sha256 in
                    ManifestLine.File(
                        rendition: kind.rendition, filters: kind.filters, file: path, bytes: byteCount, sha256: sha256)
                }
            }.first
        }
        if !found.isEmpty { line.note(found) }
        return line
    }

    /// The claims whose lines are removed after this claim has stored all lines. Claims with lower tokens ended before this
    /// one, and the lines of ``forgotten`` claims were read when this claim began. Other claims with higher tokens are later
    /// claims, whose lines this claim does not know.
    /// - Parameter tokens: the fencing tokens of all claims that have stored lines.
    /// - Returns: no tokens if this claim has stored no lines.
    package func obsolete(_ tokens: [Int]) -> [Int] {
        guard tokens.contains(fencingToken) else { return [] }
        return tokens.filter { $0 < fencingToken || forgotten.contains($0) }
    }
}
