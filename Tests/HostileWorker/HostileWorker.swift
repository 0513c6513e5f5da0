import Darkroom
import Foundation
import Synchronization

/// A worker whose operation `x:hostile` does to its process what the name of a photo says, for tests of isolation.
///
///     HostileWorker REDIS NAMESPACE FILES [isolated]
@main
struct HostileWorker {
    static func main() throws {
        let arguments = CommandLine.arguments
        var configuration = WorkerConfiguration()
        configuration.transfer.fileFolders = [arguments[3]]
        configuration.isolatesEveryPhoto = arguments.contains("isolated")
        configuration.helperLimits.processorTime = .seconds(1)
        try configuration.register(HostileOperation.self, as: "hostile")
        configuration.useThisProgramAsHelper()
        let worker = try Worker(
            redis: RedisConfiguration(url: arguments[1]), keys: Keys(namespace: arguments[2]),
            configuration: configuration)
        try worker.start()
        worker.wait()
    }
}

/// Ends its process, or takes all that it can get.
struct HostileOperation: PhotoOperation {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether a photo has broken something in this process, of which the next one dies.
    private static let isBroken = Atomic(false)

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        if Self.isBroken.load(ordering: .relaxed) { abort() }
        switch photo.record.name.split(separator: " ").first {
        case "crash": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = photo.bytes.count
        case "trap": fatalError("as asked")
        case "exit": _exit(0)
        case "loop": while !photo.bytes.isEmpty {}
        case "memory": try takeMemory()
        case "files": try openFiles()
        case "break": Self.isBroken.store(true, ordering: .relaxed)
        case "about": return Array(about().utf8)
        default: break
        }
        return photo.bytes
    }

    /// Takes memory until there is no more: 8 GiB at most, should nothing limit it.
    private func takeMemory() throws {
        for taken in 0..<128 {
            guard let block = malloc(64 << 20) else { throw Refused(description: "\(taken * 64) MiB were given") }
            memset(block, 1, 1)  // a page makes it real enough: the address space is what is limited
        }
    }

    private func openFiles() throws {
        for count in 0..<10_000 where open("/dev/null", O_RDONLY) < 0 {
            throw Refused(description: "\(count) files were given")
        }
    }

    /// What a helper can see of its worker: the names of environment variables, and what is open.
    private func about() -> String {
        let variables = ProcessInfo.processInfo.environment.keys.sorted()
        let files = (0..<64).compactMap { descriptor in
            // What is not open has no entry.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)"))
                .map { $0.split(separator: "[")[0] }
        }
        return "\(variables.joined(separator: " "))\n\(files.joined(separator: " "))\n"
    }
}
