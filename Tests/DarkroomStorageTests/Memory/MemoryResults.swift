import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Foundation

@testable import DarkroomStorage

/// The results in a ``MemoryPlace``.
struct MemoryResults: StoredResults {
    let place: MemoryPlace

    func manifest(maxFileBytes: Int) -> any ManifestSource { MemoryManifest(place: place, maxBytes: maxFileBytes) }

    /// Copies the file to an unnamed file on the disk, since the caller needs a descriptor.
    func open(_ file: String) throws(StoredFileError) -> StoredFile {
        guard !Path.isAbsolute(file), !Path.climbs(file), !file.utf8.contains(0) else {
            throw StoredFileError(isMissing: false, "\(file) is not a path in the place")
        }
        let found: MemoryFile?
        do throws(MemoryFailure) {
            found = try place.disk.read(place.name) { $0?.files[file] }
        } catch {
            throw StoredFileError(isMissing: false, "\(place.location): \(error)")
        }
        guard let bytes = found?.bytes else { throw StoredFileError(isMissing: true, "\(file) is missing") }
        var path = Array((NSTemporaryDirectory() + "darkroom-memory-XXXXXX").utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw StoredFileError(isMissing: false, "\(errno)") }
        unlink(path)
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            close(descriptor)
            throw StoredFileError(isMissing: false, "\(errno)")
        }
        let version = Hexadecimal.text(SHA256Digest.hash(of: bytes))
        return StoredFile(descriptor: descriptor, size: bytes.count, version: version)
    }
}

struct MemoryManifest: ManifestSource {
    let place: MemoryPlace
    let maxBytes: Int

    func batches() throws(ManifestError) -> [BatchID] {
        let batches = try read { $0?.reserved.keys.sorted() }
        guard let batches, !batches.isEmpty else {
            throw ManifestError(.noManifest, "\(place.location) has no manifest")
        }
        return batches
    }

    func parts(of batch: BatchID) throws(ManifestError) -> [Int] {
        let operations = try read { content in
            content?.entries.keys.filter { $0.batch == batch }.map(\.operation) ?? []
        }
        return Set(operations.map(ManifestParts.number(of:))).sorted()
    }

    func part(_ number: Int, of batch: BatchID) throws(ManifestError) -> any ManifestPart {
        let operations = try read { content in
            content?.entries.keys.filter { $0.batch == batch && ManifestParts.number(of: $0.operation) == number }
                .map(\.operation) ?? []
        }
        return MemoryManifestPart(manifest: self, batch: batch, operations: Set(operations).sorted())
    }

    fileprivate func read<Value>(_ body: (MemoryContent?) -> Value) throws(ManifestError) -> Value {
        do throws(MemoryFailure) {
            return try place.disk.read(place.name, body)
        } catch {
            throw ManifestError(.unreadable, "\(place.location): \(error)")
        }
    }
}

struct MemoryManifestPart: ManifestPart {
    fileprivate let manifest: MemoryManifest
    let batch: BatchID
    let operations: [Int]

    mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine] {
        guard operations.contains(number) else { return [] }
        let entries = try manifest.read { content in
            content?.entries.filter { $0.key.batch == batch && $0.key.operation == number } ?? [:]
        }
        let texts = Dictionary(uniqueKeysWithValues: entries.map { ($0.key.fencingToken, $0.value) })
        return try ManifestText.merged(Array(texts.keys), of: batch) { token throws(ManifestError) in
            let name = "operation \(number), token \(token)"
            let text = texts[token] ?? []
            guard text.count <= manifest.maxBytes else { throw ManifestError(.unreadable, "\(name): too many lines") }
            return (text, name)
        } ?? []
    }
}
