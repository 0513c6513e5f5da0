import Darkroom
import DarkroomCoding
import DarkroomCoordinator
import DarkroomPhotoServer
import DarkroomStorage
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// An output folder on a separate file system, and real workers that write to it.
final class MountedOutput {
    let queue: Queue
    let mounts: MountNamespace
    let server: PhotoServer
    /// The path of the output folder in the workers.
    let output: String
    private var workers: [Program] = []

    /// - Parameter setup: The shell commands that create the folder `output`. They run in the folder of the mounts.
    init(_ setup: String) throws {
        queue = try Queue()
        mounts = try MountNamespace(setup)
        server = try PhotoServer(folder: TestFiles.samples)
        output = mounts.folder + "/output"
    }

    deinit {
        for worker in workers { worker.send(SIGKILL) }
        server.stop()
    }

    /// The path of the output folder in the test.
    var seen: String { mounts.path(output) }

    /// Submits `count` photos in operations of 5. The photos are the samples `names`, in turn.
    func submit(_ count: Int, _ names: [String], _ change: (inout BatchOptions) -> Void = { _ in }) throws -> BatchID {
        let id = try queue.submit((0..<count).map { server.url(names[$0 % names.count]) }) { options in
            options.output = output
            options.fileName = "{index}-{name}"
            options.operationSize = 5
            change(&options)
        }
        try FileManager.default.createDirectory(
            atPath: "\(seen)/\(ManifestPath.folder(id))", withIntermediateDirectories: true)
        return id
    }

    /// Starts a worker with the mounts.
    func worker(_ arguments: String...) throws -> Program {
        let worker = try Program(
            ["worker", "--allow-private", "--namespace", queue.namespace] + arguments, environment: queue.environment,
            in: mounts)
        workers.append(worker)
        return worker
    }

    /// Waits until the batch satisfies `condition`.
    @discardableResult
    func wait(_ id: BatchID, _ awaited: String, until condition: (BatchFacts) throws -> Bool) throws -> BatchFacts {
        var facts: BatchFacts?
        try waitUntil("batch \(id) is \(awaited): \(String(describing: facts))") {
            let found = try #require(try queue.store.facts(of: id))
            facts = found
            return try condition(found)
        }
        return try #require(facts)
    }

    /// The reasons that workers publish in Redis for refusing the batch.
    func refusal(of id: BatchID) throws -> String {
        try queue.store.workers().compactMap { $0.refusal(of: id)?.reason }.joined()
    }

    /// Checks a finished batch: each photo has a manifest line, each filtered photo has its complete files, and no
    /// temporary file is left.
    func check(_ id: BatchID) throws {
        let facts = try #require(try queue.store.facts(of: id))
        var lines: [Int: ManifestLine] = [:]
        try StorageSchemes.place(seen).results.manifest.forEachLine { line in
            #expect(lines.updateValue(line, forKey: line.index) == nil)
        }
        #expect(lines.count == facts.photos)
        var files: Set<String> = []
        for line in lines.values where line.state == "filtered" {
            for file in line.files {
                let path = try #require(file.file)
                files.insert(path)
                let bytes = try #require(FileManager.default.contents(atPath: "\(seen)/\(path)"), "\(path) is missing")
                #expect(Hexadecimal.text(SHA256Digest.hash(of: Array(bytes))) == file.sha256)
            }
        }
        #expect(files.count == facts.counts.filtered * max(1, facts.options.renditions.count))
        let found = try FileManager.default.subpathsOfDirectory(atPath: seen).filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(seen)/\(path)", isDirectory: &isFolder)
            return !isFolder.boolValue && !path.hasPrefix("manifest/") && path != "filler"
        }
        #expect(Set(found) == files, "files without a line, or temporary files: \(Set(found).subtracting(files))")
        let manifest = try FileManager.default.subpathsOfDirectory(atPath: "\(seen)/manifest")
        #expect(!manifest.contains { $0.split(separator: "/").last?.hasPrefix(".") == true }, "\(manifest)")
    }
}
