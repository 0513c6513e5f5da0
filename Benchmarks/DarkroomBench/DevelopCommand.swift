import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomImaging
import DarkroomLists
import DarkroomWorker
import Foundation

/// `darkroom-bench develop`: compares the whole system with a floor, for which the same photos are filtered in memory.
struct DevelopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "develop", abstract: "Compare the whole system with filtering the same photos from memory.",
        discussion: """
            For the floor, all photos are decoded, filtered with sepia and encoded in memory on all cores. For the \
            whole system, a separate process serves the same photos over HTTP, and a worker claims them from a private \
            Redis, downloads, filters and writes them. Both measurements alternate for several rounds; the command \
            prints the medians. The processor time of the HTTP server and of Redis is not counted.
            """,
        examples: ["darkroom-bench develop ~/Pictures"])

    @Argument(help: "The folder with the photos.") var folder: String
    @Option(help: "Photos per round; files are used repeatedly.", valueName: "count") var photos: Int = 2000
    @Option(help: "Rounds.", valueName: "count") var rounds: Int = 3
    @Option(
        name: .shortAndLong,
        help: "The folder that photos are written to: in memory (tmpfs), or on the disk that is measured.",
        valueName: "folder")
    var output: String = "/dev/shm"
    @Flag(help: "Print the figures as JSON.") var json: Bool

    func validate() throws {
        guard photos > 0, rounds > 0 else { throw ValidationError("--photos and --rounds are at least 1") }
    }

    func run() throws {
        try Imaging.start()
        let files = try Self.files(in: folder)
        let server = try ServerProcess(folder: folder)
        defer { server.stop() }
        let urls = (0..<photos).map { server.url(files[$0 % files.count].name) }
        let bodies = files.map(\.bytes)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let cluster = try BenchCluster(output: output)

        var floors: [Run] = []
        var whole: [Run] = []
        var single: [Run] = []
        for round in 1...rounds {
            note("round \(round) of \(rounds)")
            floors.append(Self.floor(bodies, count: photos, threads: cores))
            whole.append(try system(cluster, urls) { _ in })
            single.append(
                try system(cluster, urls) {
                    $0.downloads = 1
                    $0.filtrations = 1
                })
        }
        report(floors: floors, whole: whole, single: single, cores: cores).print(json: json)
    }

    private struct Run {
        let photosPerSecond: Double
        let cpuMilliseconds: Double  // for each photo
    }

    private func report(floors: [Run], whole: [Run], single: [Run], cores: Int) -> BenchReport {
        let floor = median(floors.map(\.photosPerSecond))
        let floorCPU = median(floors.map(\.cpuMilliseconds))
        var report = BenchReport("develop, \(photos) photos, sepia, JPEG quality 85, written to \(output)")
        report.add("decode, sepia, encode from memory, \(cores) threads", floor, "photos/s")
        report.add("decode, sepia, encode from memory, processor time", floorCPU, "ms/photo")
        report.add("whole system", median(whole.map(\.photosPerSecond)), "photos/s", floor: floor)
        report.add("whole system, processor time", median(whole.map(\.cpuMilliseconds)), "ms/photo", floor: floorCPU)
        report.add(
            "whole system, 1 download and 1 filtration", median(single.map(\.photosPerSecond)), "photos/s", floor: floor
        )
        report.add(
            "gain of concurrent work over one download and one filtration",
            median(whole.map(\.photosPerSecond)) / median(single.map(\.photosPerSecond)),
            "times")
        return report
    }

    /// Develops each photo once from memory, on all cores, and discards the results.
    private static func floor(_ bodies: [[UInt8]], count: Int, threads: Int) -> Run {
        let next = Locked(0)
        let before = ProcessUsage.now
        let began = ContinuousClock.now
        let workers = (0..<threads).map { number in
            OwnedThread("bench-floor-\(number)") {
                while true {
                    let index = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard index < count else { break }
                    // Errors are ignored, because the whole system also spends time on photos that cannot be developed.
                    _ = try? Imaging.develop(
                        bodies[index % bodies.count], DevelopOptions())
                }
                Imaging.threadShutdown()
            }
        }
        for worker in workers { worker.join() }
        return run(count, (ContinuousClock.now - began) / .seconds(1), since: before)
    }

    /// Develops the photos with coordinator, Redis and a worker in this process, and writes them to files.
    private func system(
        _ cluster: BenchCluster, _ urls: [String], _ change: (inout PhotoWorkerConfiguration) -> Void
    ) throws -> Run {
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.allowsPrivateAddresses = true
        configuration.downloadRules.connectionsPerHost = .max
        change(&configuration)
        let worker = try cluster.startWorker(configuration)
        defer {
            worker.stop()
            worker.wait()
        }
        var options = BatchOptions()
        options.output = cluster.folder + "/photos"
        options.filters = [.sepia()]
        defer { try? FileManager.default.removeItem(atPath: options.output) }  // the next round creates a new folder
        let before = ProcessUsage.now
        let began = ContinuousClock.now
        let submitted = try Coordinator(store: cluster.store).submit(
            PhotoRecords(urls.map { (name: PhotoURL.name(of: $0), url: $0) }), options: options, overwrite: true)
        let facts = try cluster.wait(for: submitted.id)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        // Redis stores the time at which the batch finished, in ms, so the polling interval does not matter.
        let exact = facts.finished.map { Double($0 - facts.submitted) / 1000 } ?? seconds
        return Self.run(urls.count, min(exact, seconds), since: before)
    }

    private static func run(_ count: Int, _ seconds: Double, since before: ProcessUsage) -> Run {
        Run(
            photosPerSecond: Double(count) / seconds,
            cpuMilliseconds: (ProcessUsage.now.cpuSeconds - before.cpuSeconds) * 1000 / Double(count))
    }

    private static func files(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw BenchError("folder \(folder): cannot be read")
        }
        return try photoNames(names.sorted(), in: folder).map { name in
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw BenchError("photo \(name): cannot be read")
            }
            return (name, Array(bytes))
        }
    }
}

/// A process that runs `darkroom-bench serve`.
private final class ServerProcess {
    private let process = Process()
    private let input = Pipe()
    private let port: Int

    init(folder: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = ["serve", folder]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchError("the HTTP server for folder \(folder) did not start")
        }
        self.port = port
    }

    func url(_ name: String) -> String {
        let path = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        return "http://127.0.0.1:\(port)/\(path)"
    }

    func stop() {
        // The server ends when its standard input is closed. An error of `close` is ignored.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
