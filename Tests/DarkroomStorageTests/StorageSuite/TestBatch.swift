import DarkroomFiles
import DarkroomModel
import Foundation
import Testing

@testable import DarkroomStorage

/// A batch of a test, with operations of four photos.
struct TestBatch {
    static let size = 4
    static let ids: [BatchID] = ["20261121-090501123-7f3a", "20261121-090501999-0000", "20261121-090502555-ffff"]

    let id: BatchID
    let harness: any StorageHarness
    let place: any StoragePlace
    let files: BatchFiles

    /// Reserves a place for a batch.
    /// - Parameters:
    ///   - number: 0 for the batch that was submitted first.
    ///   - isCustom: whether a custom operation makes the files.
    init(
        _ harness: any StorageHarness, _ number: Int = 0, in place: String = "photos", renditions: [String] = [""],
        template: String = "{index}-{name}", isCustom: Bool = false, redacts: Bool = false
    ) throws {
        id = Self.ids[number]
        self.harness = harness
        self.place = harness.place(place)
        var options = BatchOptions()
        options.redactURLs = redacts
        files = BatchFiles(
            id, options, try FileNameTemplate(template, namesAreUnique: true),
            kinds: renditions.map { name in
                BatchFiles.Kind(
                    rendition: name, filters: "none", isCustom: isCustom,
                    endings: { _ in isCustom ? ["txt", "jpg"] : ["jpg", "png"] })
            })
        try self.place.reserve(for: id, origin: 5)
    }

    func held(_ number: Int = 1, token: Int) -> HeldOperation {
        HeldOperation(batch: id, number: number, fencingToken: token)
    }

    func claim(_ number: Int = 1, token: Int, states: String = "NNNN", expiries: Int = 0) -> ClaimedOperation {
        ClaimedOperation(
            held: held(number, token: token), stateCodes: Array(states.utf8), leaseExpiries: expiries, entry: [])
    }

    func records(of number: Int = 1) -> [PhotoRecord] {
        (0..<Self.size).map { record((number - 1) * Self.size + $0) }
    }

    func record(_ index: Int = 0, name: String? = nil) -> PhotoRecord {
        PhotoRecord(index: index, name: name ?? "\(index).jpg", url: "http://photos.example/\(index)?key=secret")
    }

    // MARK: Storing

    func storage(taken: Int = 100) throws(Refusal) -> any BatchStorage {
        try place.storage(of: files, taken: taken, harness.rules, willAccess: { _ in })
    }

    /// Takes the place, and begins an operation.
    func sink(
        _ number: Int = 1, token: Int = 10, states: String = "NNNN", expiries: Int = 0, worker: String = "w1",
        taken: Int = 100
    ) throws -> any OperationSink {
        try storage(taken: taken).take().begin(
            claim(number, token: token, states: states, expiries: expiries), records(of: number), worker: worker)
    }

    /// Files of a photo, with `text` and the name of the rendition.
    func made(_ text: String = "photo", ending: String = "jpg", time: FileTime? = nil) -> [MadeFile] {
        files.kinds.map { kind in
            let bytes = Array((text + kind.rendition).utf8)
            return MadeFile(ending: ending, width: 30, height: 20, byteCount: bytes.count, time: time) {
                write throws(SystemFailure) in
                try bytes.withUnsafeBytes { buffer in Result { () throws(SystemFailure) in try write(buffer) } }.get()
            }
        }
    }

    /// Stores what a worker leaves that crashes before the files get their names.
    func crash(_ sink: any OperationSink, _ record: PhotoRecord, attempt: Int = 1) throws {
        var restore: (() throws -> Void)?
        _ = try sink.write(made("crashed"), of: record, attempt: attempt) {
            restore = try? harness.savedRemains(in: place)
            return false
        }
        let saved = try #require(restore)
        try saved()
    }

    /// Lines of an operation's photos; nil at the positions that are not in `positions`.
    func lines(
        _ number: Int = 1, _ positions: [Int] = [0, 1, 2, 3], name: String, state: PhotoState = .filtered,
        of batch: BatchID? = nil
    ) -> [[UInt8]?] {
        records(of: number).enumerated().map { position, record in
            guard positions.contains(position) else { return nil }
            let named = PhotoRecord(index: record.index, name: name, url: record.url)
            return ManifestLine(batch: batch ?? id, record: named, state: state).text(redactingQuery: false)
        }
    }

    /// Stores lines as a claim does.
    func store(
        _ number: Int = 1, token: Int, _ positions: [Int] = [0, 1, 2, 3], name: String,
        state: PhotoState = .filtered, of batch: BatchID? = nil
    ) throws {
        let lines = lines(number, positions, name: name, state: state, of: batch)
        try harness.store(Array(lines.compactMap { $0 }.joined()), as: held(number, token: token), in: place)
    }

    // MARK: Reading

    func tokens(_ number: Int = 1) throws -> [Int] { try harness.tokens(of: number, id, in: place) }

    /// The lines of the batch as a reader sees them.
    func readLines() throws -> [ManifestLine] {
        var lines: [ManifestLine] = []
        try place.results.manifest.forEachLine(of: id) { lines.append($0) }
        return lines
    }

    /// The names in the lines.
    func readNames() throws -> [String] { try readLines().map(\.name) }

    /// The bytes of a file as a reader sees them.
    func read(_ path: String) throws -> [UInt8] {
        let file = try place.results.open(path)
        defer { close(file.descriptor) }
        var bytes = [UInt8](repeating: 0, count: file.size + 1)
        let count = pread(file.descriptor, &bytes, bytes.count, 0)
        try #require(count == file.size)
        return Array(bytes.prefix(count))
    }

    func text(_ path: String) throws -> String { String(decoding: try read(path), as: UTF8.self) }

    /// Expects that all files have these texts, and that nothing else is stored.
    func expectFiles(_ texts: [String: String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let found = try harness.files(in: place).mapValues { String(decoding: $0, as: UTF8.self) }
        #expect(found == texts, sourceLocation: sourceLocation)
        #expect(try harness.remains(in: place) == [], sourceLocation: sourceLocation)
    }
}

/// Decodes lines.
func decoded(_ lines: [[UInt8]?]) throws -> [ManifestLine?] {
    try lines.map { try $0.map { try UntrustedJSON().decode(ManifestLine.self, from: $0) } }
}
