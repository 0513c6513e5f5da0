import CAttacks
import Darkroom
import DarkroomRedis
import DarkroomWorker
import Foundation
import Synchronization

/// A worker for isolation tests. Its operation `x:hostile` runs the attack that the name of a photo selects.
///
///     HostileWorker REDIS NAMESPACE FILES [isolated] [unfiltered]
@main
struct HostileWorker {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.contains("unfiltered"), getenv("DARKROOM_PHOTO_HELPER") == nil { refuse_filters() }
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = [arguments[3]]
        configuration.isolatesEveryPhoto = arguments.contains("isolated")
        configuration.photoTimeout = .seconds(1)
        try configuration.register("hostile") { HostileOperation() }
        configuration.useThisProgramAsHelper()
        let worker = try Worker(
            redis: RedisConfiguration(url: arguments[1]), keys: Keys(namespace: arguments[2]),
            configuration: configuration)
        try worker.start()
        worker.wait()
    }
}

/// Ends its process, exhausts a resource, or runs an attack.
struct HostileOperation: CustomFilter {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether a photo has damaged this process; if so, the next photo crashes the process.
    private static let isBroken = Atomic(false)

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        if Self.isBroken.load(ordering: .relaxed) { abort() }
        let name = String(photo.record.name.prefix { $0 != " " })
        switch name {
        case "crash": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = photo.bytes.count
        case "trap": fatalError("as asked")
        case "exit": _exit(0)
        case "loop": while !photo.bytes.isEmpty {}
        case "memory": try takeMemory()
        case "files": try duplicateFiles()
        case "break": Self.isBroken.store(true, ordering: .relaxed)
        case "pixels": return try photo.pixels().png()
        case "about": return Array(about().utf8)
        default:
            // The error message contains "worked" if the attack succeeded, otherwise the text for `errno`.
            if attack_exists(name) {
                let worked = attack(name)
                let answer = String(cString: strerror(errno))
                throw Refused(description: worked ? "\(name) worked" : "\(name): \(answer)")
            }
        }
        return photo.bytes
    }

    /// Allocates memory until an allocation fails, at most 8 GiB.
    private func takeMemory() throws {
        for taken in 0..<128 {
            guard let block = malloc(64 << 20) else { throw Refused(description: "\(taken * 64) MiB were given") }
            memset(block, 1, 1)  // one byte is enough: the limit applies to the address space
        }
    }

    private func duplicateFiles() throws {
        for count in 0..<10_000 where dup(STDIN_FILENO) < 0 {
            throw Refused(description: "\(count) files were given")
        }
    }

    /// What a helper inherits from its worker: environment variable names, open files and the file size limit.
    private func about() -> String {
        let variables = ProcessInfo.processInfo.environment.keys.sorted()
        let files = (0..<1024).filter { fcntl($0, F_GETFD) >= 0 }.map { "\($0)" }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        return "\(variables.joined(separator: " "))\n\(files.joined(separator: " "))\n\(limit.rlim_max)\n"
    }
}
