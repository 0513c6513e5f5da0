import Darkroom
import DarkroomFiles
import Foundation

/// The folder with the uploaded lists that are being fed, and a record for each feed.
final class ListStore: Sendable {
    /// A list of a user.
    enum List {
        case url(String)
        /// The name of a file in the folder.
        case file(String)
    }

    /// What the next process needs to continue a feed.
    struct Record {
        let batch: BatchID
        let list: List
        let options: [(name: String, value: String)]
    }

    /// The JSON of a record.
    private struct StoredRecord: Codable {
        let url: String?
        let file: String?
        let names: [String]
        let values: [String]
    }

    private static let ending = ".json"
    private static let maxRecordBytes = 1 << 21

    private let path: String
    private let folder: Folder

    /// Creates the folder if it is missing, and removes lists without a record.
    init(in scratch: String) throws {
        path = Path.joined(scratch, "lists")
        let parent = try Folder(trusted: scratch)
        folder = try parent.makePrivateFolder("lists")
        // Uploads that no earlier process has taken.
        for name in try parent.names() where name.hasPrefix("upload-") { try parent.remove(name) }
        let kept = records().compactMap { if case .file(let name) = $0.list { name } else { nil } }
        for name in try folder.names() where !name.hasSuffix(Self.ending) && !kept.contains(name) {
            try folder.remove(name)
        }
    }

    /// The records of feeds that are not complete. Damaged records are left out.
    func records() -> [Record] {
        let names = (try? folder.names()) ?? []  // without the folder there are no records
        return names.filter { $0.hasSuffix(Self.ending) }.compactMap(record)
    }

    private func record(_ name: String) -> Record? {
        guard let batch = BatchID(String(name.dropLast(Self.ending.count))),
            // A record that cannot be read is damaged.
            let bytes = try? folder.contents(of: name, maxBytes: Self.maxRecordBytes),
            let stored = try? UntrustedJSON().decode(StoredRecord.self, from: bytes),
            let list = stored.file.map(List.file) ?? stored.url.map(List.url)
        else { return nil }
        return Record(batch: batch, list: list, options: zip(stored.names, stored.values).map { ($0, $1) })
    }

    /// The path or URL of a list.
    func location(of list: List) -> String {
        switch list {
        case .url(let url): url
        case .file(let name): Path.joined(path, name)
        }
    }

    /// Moves an uploaded list into the folder, so that it outlives its request.
    func take(upload: String) throws -> List {
        let name = Path.split(upload).name
        guard rename(upload, Path.joined(path, name)) == 0 else { throw SystemFailure("keep the list", errno) }
        return .file(name)
    }

    func write(_ record: Record) throws {
        let (url, file): (String?, String?) =
            switch record.list {
            case .url(let url): (url, nil)
            case .file(let name): (nil, name)
            }
        let stored = StoredRecord(
            url: url, file: file, names: record.options.map(\.name), values: record.options.map(\.value))
        try folder.replace(record.batch.description + Self.ending, with: Array(JSONEncoder().encode(stored)))
    }

    func remove(_ record: Record) {
        // What cannot be removed now is removed at the next start, because the batch is then fed or gone.
        try? folder.remove(record.batch.description + Self.ending)
        remove(record.list)
    }

    func remove(_ list: List) {
        if case .file(let name) = list { try? folder.remove(name) }  // see above
    }
}
