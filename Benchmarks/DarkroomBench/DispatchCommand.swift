import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomWorker
import Foundation

/// `darkroom-bench dispatch`: measures the queue with empty operations of several sizes.
struct DispatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "dispatch", abstract: "Measure feeding, claiming and ending of empty operations of several sizes.",
        discussion: """
            For operations of 1, 10, 50 and 250 photos, the command measures: how many photos per second are fed from \
            a text file to a private Redis with an append-only file (everysec), without workers; how many photos per \
            second one worker claims and reports as filtered; how many bytes of Redis memory a queued and an ended \
            photo takes.
            """,
        examples: ["darkroom-bench dispatch --photos 5000000"])

    @Option(help: "Lines of the list; fewer for small operations.", valueName: "count") var photos: Int = 1_000_000
    @Option(help: "Photos per operation; by default all four sizes.", valueName: "count") var size: [Int]
    @Flag(help: "Print the figures as JSON.") var json: Bool

    func validate() throws {
        guard photos > 0 else { throw ValidationError("--photos must be at least 1") }
        guard size.allSatisfy((1...1000).contains) else { throw ValidationError("--size must be 1 to 1000") }
    }

    func run() throws {
        var report = BenchReport("dispatch")
        for size in size.isEmpty ? [1, 10, 50, 250] : size {
            // The duration depends on the number of operations, so a list with small operations gets fewer photos.
            let count = max(size, size < 50 ? photos * size / 50 : photos)
            try measure(size: size, count: count, &report)
        }
        report.print(json: json)
    }

    private func measure(size: Int, count: Int, _ report: inout BenchReport) throws {
        let cluster = try BenchCluster(output: NSTemporaryDirectory())
        let list = cluster.folder + "/list.txt"
        try Self.writeList(list, count: count)
        var options = BatchOptions()
        options.operationSize = size
        options.window = count / size + 1
        let empty = try cluster.usedMemory()
        let began = ContinuousClock.now
        let batch = try Coordinator(store: cluster.store).submit(try PhotoListReader(list), options: options)
        let fed = (ContinuousClock.now - began) / .seconds(1)
        let queued = try cluster.usedMemory()

        var hooks = WorkerHooks()
        hooks.work = .nothing
        let worker = try cluster.startWorker(PhotoWorkerConfiguration(), hooks: hooks)
        let facts = try cluster.wait(for: batch.id)
        worker.stop()
        worker.wait()
        let seconds = Double((facts.finished ?? 0) - (facts.started ?? 0)) / 1000
        let ended = try cluster.usedMemory()
        let label = "operations of \(size)"
        report.add("\(label): fed from a file of \(HumanText.count(count)) lines", Double(count) / fed, "photos/s")
        report.add("\(label): claim to end", Double(count) / max(seconds, 0.001), "photos/s")
        report.add("\(label): Redis memory, queued", Double(queued - empty) / Double(count), "bytes/photo")
        report.add("\(label): Redis memory, ended", Double(ended - empty) / Double(count), "bytes/photo")
    }

    /// Writes a list of URLs; each is 70 bytes long and contains 10 random digits.
    private static func writeList(_ path: String, count: Int) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw BenchError("cannot write \(path)") }
        var random = SystemRandomNumberGenerator()
        var text: [UInt8] = []
        let start = Array("http://photos.example.com/albums/2026/november/original/".utf8)  // 56 bytes
        for line in 1...count {
            text += start
            let digits = String(UInt64.random(in: 0..<10_000_000_000, using: &random))
            text += repeatElement(48, count: 10 - digits.utf8.count)
            text += digits.utf8
            text += ".jpg\n".utf8
            if text.count > 1 << 20 || line == count {
                try file.write(contentsOf: text)
                text.removeAll(keepingCapacity: true)
            }
        }
        try file.close()
    }
}
