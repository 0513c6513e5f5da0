import DarkroomCoordinator
import DarkroomFiles
import DarkroomStorage
import DarkroomStore
import Foundation

/// Lists the photos of a batch in order. Reads the state codes, failures and entries from Redis, and the manifest from
/// the output folder, each only as far as it is needed.
///
/// At most 20,000 photos are in memory at a time.
package struct PhotoListing {
    package struct Photo: Sendable {
        package let index: Int
        package let state: PhotoState
        package fileprivate(set) var name: String?
        /// Without user and password; without a query if the batch redacts URLs.
        package fileprivate(set) var url: String?
        /// The paths of the written files, relative to the output folder.
        package fileprivate(set) var files: [String] = []
        package fileprivate(set) var detail: String?

        package var reason: String? {
            if case .failed(let reason) = state { reason.word } else { nil }
        }
    }

    /// The photos of one operation that `isWanted` accepts.
    private struct Group {
        let operation: Int
        var photos: [Photo]

        var lacksNames: Bool { photos.contains { $0.name == nil } }

        /// For each photo without a name, fills in the facts that `known` returns.
        mutating func fill(_ known: (Photo) -> (name: String, url: String, files: [String], detail: String?)?) {
            for position in photos.indices where photos[position].name == nil {
                guard let found = known(photos[position]) else { continue }
                photos[position].name = found.name
                photos[position].url = found.url
                photos[position].files = found.files
                photos[position].detail = found.detail
            }
        }
    }

    /// The reason why photos were listed without their names; nil if all photos have names.
    package private(set) var whyNamesAreMissing: String?

    private static let mostPhotosInMemory = 20_000

    private let batch: BatchFacts
    private let client: DarkroomClient
    private let manifest: (any ManifestSource)?
    private let isWanted: (PhotoState) -> Bool
    private var manifestError: ManifestError?
    private var failures: [Int: PhotoFailure]?

    /// - Parameter isWanted: Whether photos in this state are listed.
    package init(_ batch: BatchFacts, in client: DarkroomClient, isWanted: @escaping (PhotoState) -> Bool) {
        let output = batch.options.output
        self.init(
            batch, in: client, manifest: output.isEmpty ? nil : StorageSchemes.place(output).results.manifest,
            isWanted: isWanted)
    }

    /// - Parameters:
    ///   - manifest: Reads the manifest of the output folder; nil if it must not be read.
    ///   - isWanted: Whether photos in this state are listed.
    package init(
        _ batch: BatchFacts, in client: DarkroomClient, manifest: (any ManifestSource)?,
        isWanted: @escaping (PhotoState) -> Bool
    ) {
        self.batch = batch
        self.client = client
        self.manifest = manifest
        self.isWanted = isWanted
    }

    /// Calls `body` with every photo in `range` that `isWanted` accepts, in order.
    /// - Parameter range: indexes from 0; nil for all photos.
    /// - Throws: ``DarkroomError`` with the code `noSuchBatch` if the batch is forgotten during the listing.
    package mutating func forEach(in range: Range<Int>? = nil, _ body: (Photo) throws -> Void) throws {
        let photos = (range ?? 0..<batch.photos).clamped(to: 0..<batch.photos)
        guard let lastPhoto = photos.last else { return }
        let size = batch.options.operationSize
        let operations = photos.lowerBound / size + 1...lastPhoto / size + 1
        let most = max(1, Self.mostPhotosInMemory / size)
        var first = operations.lowerBound
        while first <= operations.upperBound {
            let part = ManifestParts.number(of: first)
            let last = min(first + most - 1, (part + 1) * ManifestParts.size - 1, operations.upperBound)
            let groups = try wantedPhotos(ofOperations: first...last, in: photos)
            first = last + 1
            // The manifest is opened after the state codes were read, since workers write a photo's line before they
            // report its state code.
            var manifest = manifestPart(part, of: groups)
            for start in stride(from: 0, to: groups.count, by: 20) {
                var some = Array(groups[start..<min(start + 20, groups.count)])
                for position in some.indices { try fill(&some[position], from: &manifest) }
                try fillFromEntries(&some)
                // Names may be missing because the batch was forgotten.
                if some.contains(where: \.lacksNames) { try requirePresence() }
                for photo in some.flatMap(\.photos) { try body(photo) }
            }
        }
    }

    /// - Throws: ``DarkroomError`` if the batch was forgotten.
    private func requirePresence() throws {
        guard try client.store.facts(of: batch.id) == nil else { return }
        throw try batch.incompleteness(in: client, "its photos were listed", lacking: 0)
    }

    /// Index and state of the wanted photos, from their state codes.
    private func wantedPhotos(ofOperations operations: ClosedRange<Int>, in range: Range<Int>) throws -> [Group] {
        let size = batch.options.operationSize
        let start = max((operations.lowerBound - 1) * size, range.lowerBound)
        let end = min(operations.upperBound * size, range.upperBound)
        let stateCodes = try client.store.stateCodes(of: batch.id, in: start..<end)
        let lacking = end - start - stateCodes.count
        if lacking > 0 { throw try batch.incompleteness(in: client, "its photos were listed", lacking: lacking) }
        return operations.compactMap { operation in
            let first = (operation - 1) * size
            let photos = (max(first, start)..<min(first + size, end)).compactMap { index -> Photo? in
                guard let state = PhotoState(stateCode: stateCodes[index - start], of: batch),
                    isWanted(state)
                else { return nil }
                return Photo(index: index, state: state)
            }
            return photos.isEmpty ? nil : Group(operation: operation, photos: photos)
        }
    }

    private mutating func manifestPart(_ number: Int, of groups: [Group]) -> (any ManifestPart)? {
        guard let manifest, groups.contains(where: { $0.photos.contains { $0.state.isFinal } }) else { return nil }
        do {
            return try manifest.part(number, of: batch.id)
        } catch {
            manifestError = error
            return nil
        }
    }

    /// Fills in the facts from the manifest, then from the failures in Redis.
    private mutating func fill(_ group: inout Group, from manifest: inout (any ManifestPart)?) throws {
        if group.photos.contains(where: \.state.isFinal) {
            let lines = lines(ofOperation: group.operation, in: &manifest)
            group.fill { photo in
                lines[photo.index].flatMap { line in
                    // The batch may have been cancelled after the photo was written and before it was reported.
                    line.state == photo.state.word || photo.state == .cancelled
                        ? (line.name, line.url, line.paths, line.detail) : nil
                }
            }
        }
        guard group.photos.contains(where: { $0.name == nil && $0.reason != nil }) else { return }
        let failures = try failures ?? readFailures()
        self.failures = failures
        group.fill { photo in
            photo.reason == nil ? nil : failures[photo.index].map { ($0.name, $0.url, [], $0.detail) }
        }
    }

    private mutating func lines(ofOperation operation: Int, in manifest: inout (any ManifestPart)?) -> [Int:
        ManifestLine]
    {
        guard var part = manifest else { return [:] }
        defer { manifest = part }
        do {
            return Dictionary(try part.lines(ofOperation: operation).map { ($0.index, $0) }) { $1 }
        } catch {
            manifestError = error
            return [:]
        }
    }

    private func readFailures() throws -> [Int: PhotoFailure] {
        // A failure that cannot be decoded is skipped: the photo's state code also contains the reason.
        let pairs = try client.store.failures(of: batch.id).compactMap { failure in
            PhotoFailure(index: failure.index, json: failure.json).map { (failure.index, $0) }
        }
        return Dictionary(pairs) { $1 }
    }

    /// For photos without a name, fills in names and URLs from the entries of the operations.
    private mutating func fillFromEntries(_ groups: inout [Group]) throws {
        let lacking = groups.indices.filter { groups[$0].lacksNames }
        let entries = try client.store.entries(of: batch.id, operations: lacking.map { groups[$0].operation })
        for (position, entry) in zip(lacking, entries) {
            if let entry {
                let first = (groups[position].operation - 1) * batch.options.operationSize
                let records = try OperationEntry.records(of: entry, firstIndex: first)
                groups[position].fill { photo in
                    let at = photo.index - first
                    guard records.indices.contains(at) else { return nil }
                    let url = records[at].url
                    // The manifest shows the URL in the same form.
                    return (
                        records[at].name, batch.options.redactURLs ? PhotoURL.redacted(url) : PhotoURL.withoutUser(url),
                        [], nil
                    )
                }
            }
            // If a photo became final after its state was read, its name may be missing, because Redis has removed the
            // entry.
            let missing = groups[position].photos.first { $0.name == nil && $0.state.isFinal }
            if let missing, whyNamesAreMissing == nil { whyNamesAreMissing = reasonForMissingName(of: missing) }
        }
    }

    private func reasonForMissingName(of photo: Photo) -> String {
        if batch.cancelled, photo.state == .cancelled {
            return "the batch was cancelled before they started, and Redis no longer has their entries"
        }
        if let manifestError { return "\(manifestError)" }
        let output = batch.options.output
        if output.isEmpty { return "the batch writes no files, so it has no manifest" }
        let manifest = StorageSchemes.place(output).manifestLocation(of: batch.id)
        return "their manifest, \(manifest), is not on this machine or does not contain them"
    }
}

extension JSON {
    package init(_ photo: PhotoListing.Photo) {
        self = [
            "index": .int(photo.index), "state": .string(photo.state.word), "reason": JSON(photo.reason),
            "name": JSON(photo.name), "url": JSON(photo.url), "files": .array(photo.files.map(JSON.string)),
            "detail": JSON(photo.detail),
        ]
    }
}
