import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Foundation

package enum ManifestFiles {
    /// Writes the lines of an operation's final photos to the manifest file that has the operation's fencing token in
    /// its name. Replaces the whole file.
    package static func write(
        _ lines: [[UInt8]?], of held: HeldOperation, _ output: BatchOutput, worker: String
    ) throws(OutputWriter.Failure) {
        guard let place = output.manifestPlace else { return }
        let text = Array(lines.compactMap { $0 }.joined())
        guard !text.isEmpty else { return }
        let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
        try OutputWriter.write(
            text, to: "\(ManifestPath.folder(held.batch))/\(ManifestPath.subfolder(operation: held.number))\(name)",
            in: place,
            temporaryName: StaleFiles.temporaryName(
                for: StaleFiles.manifestName(operation: held.number), fencingToken: held.fencingToken, worker: worker))
    }

    /// The results of earlier claims of an operation, read when the operation was claimed.
    package struct Past {
        /// The lines of the final photos, by position.
        package var lines: [[UInt8]?]
        /// Fencing tokens that are higher than the token of this claim. Redis lost these claims when it lost its latest
        /// changes.
        package var forgotten: [Int] = []
    }

    /// Reads the results of earlier claims. For each final photo, takes the line that agrees with the state code; if
    /// several lines agree, takes the line with the highest fencing token. If no line agrees, makes a line from the
    /// state code and the photo's file.
    package static func takeOver(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], _ batch: BatchOutput
    ) -> Past {
        var past = Past(lines: [[UInt8]?](repeating: nil, count: records.count))
        let states = claimed.stateCodes.map { PhotoState(stateCode: $0) ?? .new }
        guard claimed.leaseExpiries > 0 || states.contains(where: \.isFinal), let output = root(batch) else {
            return past
        }
        let folder = folder(claimed.held, output)
        let fencingTokens = fencingTokens(claimed.held.number, in: folder)
        past.forgotten = fencingTokens.filter { $0 > claimed.held.fencingToken }
        for fencingToken in fencingTokens.sorted(by: >) where fencingToken != claimed.held.fencingToken {
            for line in lines(
                ManifestPath.fileName(operation: claimed.held.number, fencingToken: fencingToken), in: folder)
            where line.batch == batch.batch {
                let position = line.index - records[0].index
                guard records.indices.contains(position), states[position].isFinal, past.lines[position] == nil,
                    line.state == states[position].word
                else { continue }
                past.lines[position] = line.text(redactingQuery: batch.redactsQueries)
            }
        }
        for (position, state) in states.enumerated() where state.isFinal && past.lines[position] == nil {
            past.lines[position] = remade(records[position], state, batch, output).text(
                redactingQuery: batch.redactsQueries)
        }
        return past
    }

    /// After this worker has ended the operation, removes the manifest files of other claims whose fencing token is
    /// lower than the token of this claim, or is in `forgotten`. Does nothing if the file of this claim is missing.
    ///
    /// No worker holds the operation with a token in `forgotten`: after such a claim, Redis would have refused the last
    /// report of this worker. Other higher tokens may belong to a worker that runs the operation again after a retry.
    package static func removeOthers(_ held: HeldOperation, forgotten: [Int], _ output: BatchOutput) {
        guard let folder = root(output).flatMap({ folder(held, $0) }) else { return }
        let fencingTokens = fencingTokens(held.number, in: folder)
        guard fencingTokens.contains(held.fencingToken) else { return }
        for fencingToken in fencingTokens where fencingToken < held.fencingToken || forgotten.contains(fencingToken) {
            remove(held, fencingToken: fencingToken, in: folder)
        }
    }

    /// Removes the manifest file of this claim, whose lines were not reported.
    package static func removeOwn(_ held: HeldOperation, _ output: BatchOutput) {
        guard let folder = root(output).flatMap({ folder(held, $0) }) else { return }
        remove(held, fencingToken: held.fencingToken, in: folder)
    }

    /// A file that cannot be removed does no harm, since readers use the highest fencing token.
    private static func remove(_ held: HeldOperation, fencingToken: Int, in folder: Folder) {
        try? folder.remove(ManifestPath.fileName(operation: held.number, fencingToken: fencingToken))
    }

    /// The output folder; nil if the batch writes no files or the folder cannot be opened.
    private static func root(_ output: BatchOutput) -> Folder? { try? output.manifestPlace?.open() }

    /// The folder of an operation's manifest files; nil if it does not exist.
    private static func folder(_ held: HeldOperation, _ output: Folder) -> Folder? {
        try? output.folder(ManifestPath.folder(held.batch) + "/" + ManifestPath.subfolder(operation: held.number))
    }

    private static func fencingTokens(_ number: Int, in folder: Folder?) -> [Int] {
        let names = (try? folder?.names()) ?? []  // without a folder there are no files
        return names.compactMap(ManifestPath.parse(fileName:)).filter { $0.operation == number }.map(\.fencingToken)
    }

    private static func lines(_ name: String, in folder: Folder?) -> [ManifestLine] {
        let decoder = UntrustedJSON()
        // Unreadable lines are skipped. They are recreated from the state codes and the photos' files.
        let text = (try? folder?.contents(of: name, maxBytes: 1 << 28)) ?? []
        return text.split(separator: 10).compactMap { try? decoder.decode(ManifestLine.self, from: $0) }
    }

    /// Recreates the line of a photo from its state and its file.
    private static func remade(
        _ record: PhotoRecord, _ state: PhotoState, _ batch: BatchOutput, _ output: Folder
    ) -> ManifestLine {
        var line = ManifestLine(batch: batch.batch, record: record, state: state)
        guard state == .filtered else { return line }
        let files = batch.files.compactMap { find(record, $0, batch, output) }
        if !files.isEmpty { line.note(files) }
        return line
    }

    /// Finds the file of a photo by its possible names.
    private static func find(
        _ record: PhotoRecord, _ kind: BatchOutput.File, _ batch: BatchOutput, _ output: Folder
    ) -> ManifestLine.File? {
        for ending in kind.endings(record) {
            let path = batch.path(of: record, kind, ending: ending)
            guard let file = try? output.contents(of: path, maxBytes: 1 << 30) else { continue }
            return ManifestLine.File(
                rendition: kind.rendition, filters: kind.filters, file: path, bytes: file.count,
                sha256: Hexadecimal.text(file.withUnsafeBytes { SHA256Digest.hash(of: $0) }))
        }
        return nil
    }
}
