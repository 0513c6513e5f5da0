import Darkroom
import DarkroomFiles
import DarkroomLogging
import Foundation

/// The folder with the uploaded lists that are being fed, and a record for each feed.
///
/// A record is on the disk before its batch is submitted. Therefore, after a crash, each batch that this server has
/// submitted has a record until it is fed, and the record has the id of the batch. Every removal is logged.
final class ListStore: Sendable {
    /// A list of a user.
    enum List {
        case url(String)
        /// The name of a file in the folder.
        case file(String)
    }

    /// The data with which the next process submits a list and continues its feed.
    struct Record {
        let batch: BatchID
        let list: List
        /// The name that the user knows, in messages.
        let name: String
        /// The fields of the form, see ``SubmittedFields``.
        let fields: [(name: String, value: String)]
        /// The Redis server and the namespace of the batch; nil in records of earlier versions.
        let redis: String?
        /// Whether the user was told that the list is not submitted. The batch is removed if it exists.
        var isWithdrawn = false
    }

    /// The JSON of a record. Records of earlier versions have no `name`, `redis` and `isWithdrawn`.
    private struct StoredRecord: Codable {
        let url: String?
        let file: String?
        let name: String?
        let names: [String]
        let values: [String]
        let redis: String?
        let isWithdrawn: Bool?
    }

    private static let ending = ".json"
    private static let uploads = "upload-"
    private static let maxRecordBytes = 1 << 21
    /// The largest number of bytes of all files in the folder.
    private static let mostBytes = 16 << 30

    private let path: String
    private let folder: Folder
    private let logger: Logger

    /// Creates the folder if it is missing, and removes lists without a record.
    init(in scratch: String, logger: Logger) throws {
        path = Path.joined(scratch, "lists")
        self.logger = logger
        let parent = try Folder(trusted: scratch)
        folder = try parent.makePrivateFolder("lists")
        try parent.makeDurable("")
        // Removes the uploads that no earlier process has moved into the folder.
        for name in try parent.names() where name.hasPrefix(Self.uploads) {
            try parent.remove(name)
            noteUnsubmitted(name)
        }
        try removeListsWithoutRecord()
    }

    private func removeListsWithoutRecord() throws {
        let names = try folder.names()
        let records = names.filter { $0.hasSuffix(Self.ending) }.map { ($0, record($0)) }
        let unreadable = records.filter { $0.1 == nil }.map(\.0)
        for name in unreadable {
            logger.error(
                "cannot read the record of a list, keeps all lists without a record",
                ["file": .text(Path.joined(path, name))])
        }
        // An unreadable record may belong to any of these lists.
        guard unreadable.isEmpty else { return }
        let kept = records.compactMap { if case .file(let name) = $0.1?.list { name } else { nil } }
        for name in names where !name.hasSuffix(Self.ending) && !kept.contains(name) {
            try folder.remove(name)
            noteUnsubmitted(name)
        }
    }

    /// - Parameter name: The name of a removed file: an uploaded list, or a record that was not written to its end.
    private func noteUnsubmitted(_ name: String) {
        guard name.hasPrefix(Self.uploads) else { return }
        logger.warning(
            "removed an uploaded list: the server ended before it had submitted the list", ["file": .text(name)])
    }

    /// The records of feeds that are not complete. Damaged records are left out.
    func records() -> [Record] {
        let names = (try? folder.names()) ?? []  // without the folder there are no records
        return names.filter { $0.hasSuffix(Self.ending) }.sorted().compactMap(record)
    }

    private func record(_ name: String) -> Record? {
        guard let batch = BatchID(String(name.dropLast(Self.ending.count))),
            // A record that cannot be read is damaged.
            let bytes = try? folder.contents(of: name, maxBytes: Self.maxRecordBytes),
            let stored = try? UntrustedJSON().decode(StoredRecord.self, from: bytes),
            let list = stored.file.map(List.file) ?? stored.url.map(List.url)
        else { return nil }
        return Record(
            batch: batch, list: list, name: stored.name ?? stored.url ?? stored.file ?? "",
            fields: zip(stored.names, stored.values).map { ($0, $1) }, redis: stored.redis,
            isWithdrawn: stored.isWithdrawn ?? false)
    }

    /// The path or URL of a list.
    func location(of list: List) -> String {
        switch list {
        case .url(let url): url
        case .file(let name): Path.joined(path, name)
        }
    }

    /// Moves an uploaded list into the folder, so that it outlives its request. When this call returns, the content of
    /// the list is on the disk. The name of the file is on the disk only after ``write(_:)``.
    func take(upload: String) throws -> List {
        let bytes = try folder.names().reduce(0) { try $0 + Int(folder.status(of: $1)?.st_size ?? 0) }
        guard bytes < Self.mostBytes else {
            throw SystemFailure(
                "keep the list", EDQUOT, "it keeps 16 GiB of other lists; try again when one of them is fed")
        }
        let name = Path.split(upload).name
        guard rename(upload, Path.joined(path, name)) == 0 else { throw SystemFailure("keep the list", errno) }
        do {
            try folder.makeDurable(name)
        } catch {
            remove(.file(name))
            throw error
        }
        return .file(name)
    }

    /// Writes a record. When this call returns, the record and the names of the files in the folder are on the disk.
    func write(_ record: Record) throws {
        let (url, file): (String?, String?) =
            switch record.list {
            case .url(let url): (url, nil)
            case .file(let name): (nil, name)
            }
        let stored = StoredRecord(
            url: url, file: file, name: record.name, names: record.fields.map(\.name),
            values: record.fields.map(\.value), redis: record.redis, isWithdrawn: record.isWithdrawn)
        try folder.replace(
            record.batch.description + Self.ending, with: Array(JSONEncoder().encode(stored)), isDurable: true)
    }

    /// Removes a record and its list.
    /// - Parameter why: The reason, for the log.
    func remove(_ record: Record, because why: String) {
        do {
            try folder.remove(record.batch.description + Self.ending)
            logger.info(
                "removed the record of a list",
                [.batch: .text(record.batch), "list": .text(record.name), "detail": .text(why)])
        } catch {
            // The next start removes the record, because the batch is then fed or gone.
            logger.warning(
                "cannot remove the record of a list", [.batch: .text(record.batch), "detail": .text(error.text)])
        }
        remove(record.list)
    }

    /// Removes an uploaded list. The caller logs the reason.
    func remove(_ list: List) {
        guard case .file(let name) = list else { return }
        do {
            try folder.remove(name)
        } catch {
            logger.warning("cannot remove an uploaded list", ["file": .text(name), "detail": .text(error.text)])
        }
    }
}
