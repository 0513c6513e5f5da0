import DarkroomLists
import DarkroomModel
import DarkroomStorage

/// Finds the first photo that differs between a list and a batch. Compares the list with the manifest in the output
/// folder, because Redis contains only a digest of the list.
struct ListDifference {
    private let batch: BatchFacts
    private let manifest: any ManifestSource
    private var part: (number: Int, lines: any ManifestPart)?
    /// The manifest lines of one operation, by photo index.
    private var known: [Int: ManifestLine] = [:]

    private init(_ batch: BatchFacts) {
        self.batch = batch
        manifest = StorageSchemes.place(batch.options.output).results.manifest
    }

    /// A phrase that describes the first difference; nil if no photo that has a manifest line differs.
    static func first(in list: some PhotoListSource, from batch: BatchFacts) throws -> String? {
        guard !batch.options.output.isEmpty else { return nil }
        var difference = ListDifference(batch)
        var (index, found): (Int, String?) = (0, nil)
        try list.rewind()
        try list.forEach { entry in
            defer { index += 1 }
            guard index < batch.photos else { return false }
            let photo = PhotoListEntry(entry)
            found = try difference.text(of: PhotoRecord(index: index, name: photo.name, url: photo.url))
            return found == nil
        }
        return found
    }

    private mutating func text(of record: PhotoRecord) throws -> String? {
        let size = batch.options.operationSize
        if record.index % size == 0 { try read(operation: record.index / size + 1) }
        guard var line = known[record.index] else { return nil }
        var now = ManifestLine(batch: batch.id, record: record, state: .new)
        // Redact both URLs: the URL in the manifest may be redacted, and the message must not contain secrets.
        line.redact(query: true)
        now.redact(query: true)
        guard line.name != now.name || line.url != now.url else { return nil }
        return "photo \(record.index) was \"\(line.name)\" (\(line.url)) and is \"\(now.name)\" (\(now.url))"
    }

    private mutating func read(operation: Int) throws {
        let number = ManifestParts.number(of: operation)
        var part = try part.flatMap { $0.number == number ? $0.lines : nil } ?? manifest.part(number, of: batch.id)
        let lines = try part.lines(ofOperation: operation)
        self.part = (number, part)
        known = Dictionary(lines.map { ($0.index, $0) }) { first, _ in first }
    }
}
