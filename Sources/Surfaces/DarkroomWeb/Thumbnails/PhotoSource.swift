import Darkroom
import DarkroomCoordinator
import DarkroomOrigins
import DarkroomStorage
import DarkroomStore
import Glibc

/// Finds photos and their files.
extension Site {
    /// The maximum size of a manifest file in bytes. Other users may write to output folders, and several requests read
    /// manifests at a time. The lines of an operation, which has at most 1,000 photos, have about 8 MiB at most.
    private static let maxManifestBytes = 16 << 20

    /// Reads the manifest of a batch; nil if its output is not in the places of this server.
    func manifest(of batch: BatchFacts) -> (any ManifestSource)? {
        results(of: batch)?.manifest(maxFileBytes: Self.maxManifestBytes)
    }

    /// The results of a batch; nil if its output is not in the places of this server.
    func results(of batch: BatchFacts) -> (any StoredResults)? {
        let output = batch.options.output
        return output.isEmpty ? nil : StorageSchemes.place(output).results(in: places)
    }

    /// The originals of a batch; nil if they are not in the places of this server.
    func originals(of batch: BatchFacts) -> (any StoredResults)? {
        OutputFolder(path: batch.options.originals).results(in: places)
    }

    /// A photo, and its line in the manifest. Blocks.
    func photo(_ index: Int, of batch: BatchFacts) throws -> (PhotoListing.Photo, ManifestLine?) {
        var listing = PhotoListing(batch, in: client, manifest: manifest(of: batch)) { _ in true }
        var found: PhotoListing.Photo?
        try listing.forEach(in: index..<index + 1) { found = $0 }
        guard let found else { throw Problem(404, "noSuchPhoto", "batch \(batch.label) has no photo \(index)") }
        guard found.state.isFinal else { return (found, nil) }
        do {
            return (found, try line(of: index, batch))
        } catch is ManifestError {
            return (found, nil)  // a damaged manifest; the facts of Redis are shown
        }
    }

    private func line(of index: Int, _ batch: BatchFacts) throws -> ManifestLine? {
        try manifest(of: batch).flatMap { try manifestLines.line(of: index, batch, in: $0) }
    }

    /// Opens the file of a filtered photo. Blocks.
    /// - Parameter rendition: the name of a rendition; nil for the largest file.
    func file(of index: Int, _ batch: BatchFacts, rendition: String? = nil) throws -> OpenPhoto {
        guard let results = results(of: batch) else {
            throw Self.notShown(batch.options.output, "output")
        }
        let code = try client.store.stateCodes(of: batch.id, in: index..<index + 1).first
        guard let state = code.flatMap({ PhotoState(stateCode: $0, of: batch) }), state == .filtered,
            let line = try line(of: index, batch)
        else {
            throw Problem(
                404, "noFile", "photo \(index) of batch \(batch.label) has no file, or its manifest is missing")
        }
        let files =
            line.renditions ?? [
                ManifestLine.File(rendition: "", filters: "", file: line.file, width: line.width, height: line.height)
            ]
        let wanted =
            rendition.map { name in files.first { $0.rendition == name } }
            ?? files.max { $0.pixels < $1.pixels }
        guard let path = wanted?.file else {
            throw Problem(
                404, "noFile",
                "photo \(index) of batch \(batch.label) has no rendition \"\(rendition ?? "")\"; it has "
                    + files.map { "\"\($0.rendition)\"" }.joined(separator: ", "))
        }
        return try Self.open(path, in: results, "the file of photo \(index) of batch \(batch.label)")
    }

    /// Opens the original of a photo, if the batch keeps originals. Blocks.
    func original(of index: Int, _ batch: BatchFacts) throws -> OpenPhoto {
        guard !batch.options.originals.isEmpty else {
            throw Problem(404, "noOriginals", "batch \(batch.label) keeps no originals")
        }
        guard let originals = originals(of: batch) else {
            throw Self.notShown(batch.options.originals, "originals")
        }
        // A photo that is not final has no manifest line. The entry contains the complete URL, which leads to the file.
        guard
            let file = try record(of: index, batch).map({ OriginalsFolder.file(of: $0.url) })
                ?? line(of: index, batch)?.original
        else { throw Problem(404, "noFile", "the original of photo \(index) of batch \(batch.label) is not known") }
        return try Self.open(file, in: originals, "the original of photo \(index) of batch \(batch.label)")
    }

    /// The entry of a photo; nil if Redis has it no longer.
    private func record(of index: Int, _ batch: BatchFacts) throws -> PhotoRecord? {
        let size = batch.options.operationSize, operation = index / size
        guard let entry = try client.store.entries(of: batch.id, operations: [operation + 1]).first ?? nil else {
            return nil
        }
        return try OperationEntry.records(of: entry, firstIndex: operation * size).first { $0.index == index }
    }

    private static func notShown(_ folder: String, _ kind: String) -> Problem {
        Problem(
            404, "notShown",
            folder.isEmpty
                ? "the batch writes no files"
                : "this server does not show the \(kind) folder \(folder): it is not in a folder that the server may show"
        )
    }

    /// - Parameter what: the name of the file in messages, which do not tell the path on this machine.
    private static func open(
        _ path: String, in results: any StoredResults, _ what: String
    ) throws(Problem) -> OpenPhoto {
        do throws(StoredFileError) {
            return OpenPhoto(path: path, try results.open(path))
        } catch {
            throw Problem(
                404, "noFile",
                error.isMissing
                    ? "\(what) is missing: it was not written, or was removed later"
                    : "\(what) cannot be read: \(error.text)")
        }
    }
}

extension ManifestLine.File {
    /// The number of pixels. The numbers in a manifest may be too large for a product of integers.
    fileprivate var pixels: Double { Double(width ?? 0) * Double(height ?? 0) }
}
