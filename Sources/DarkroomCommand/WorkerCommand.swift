import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import Foundation

/// `darkroom worker`: claims operations and develops their photos until it is stopped.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "worker", abstract: "Develop what is queued, until it is stopped.",
        discussion: """
            The first SIGTERM or SIGINT (Ctrl-C) stops it in order: photos that run may end within the grace time, all \
            else is handed back to be developed by others. A second one makes it leave at once; what it held is taken \
            over by others when its leases have expired.
            """,
        group: "Worker",
        examples: ["darkroom worker", "darkroom worker --redis redis://queue:6379 --outputs-under /mnt/photos"])

    @Option(help: "Write only below this folder; batches with another output are left to others.", valueName: "folder")
    var outputsUnder: [String]
    @OptionGroup(title: "Worker options") var slots: SlotOptions
    @OptionGroup(title: "Fetch options") var fetch: FetchOptions
    @OptionGroup(title: "Webhook options") var webhooks: WebhookOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        // Before anything that starts a thread; the worker is there a moment later.
        let running = Locked<Worker?>(nil)
        let left = Locked(false)
        StopSignals.handle { count in
            guard let worker = running.withLock({ $0 }) else { endProcess(.interrupted) }
            if count == 1 {
                Self.log("stopping: photos that run may end, all else is handed back")
                worker.stop()
            } else {
                Self.log("leaving now")
                left.withLock { $0 = true }
                worker.leave()
            }
        }
        let address = try redis.configuration()
        for warning in try RedisRequirements.check(address) { Self.log("warning: \(warning)") }
        let configuration = try workerConfiguration()
        let worker = try Worker(redis: address, keys: redis.keys(), configuration: configuration, log: Self.log)
        running.withLock { $0 = worker }
        try worker.start()
        Self.log(
            "worker \(worker.id): \(configuration.downloads) downloads and \(configuration.filtrations) filtrations at "
                + "once, \(address.displayName), namespace \(redis.namespace)")
        worker.wait()
        if left.withLock({ $0 }) { throw ExitCode.interrupted }
        Self.log("worker \(worker.id) has stopped: \(HumanText.count(worker.photosDone, of: "photo")) done")
    }

    /// What the options say.
    func workerConfiguration() throws -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        slots.apply(to: &configuration)
        configuration.outputsUnder = try outputsUnder.map { try existingFolder($0, "--outputs-under") }
        configuration.transfer = fetch.transferConfiguration()
        configuration.maxPixels = fetch.maxPixels.value
        try webhooks.apply(to: &configuration) { Self.log("warning: \($0)") }
        return configuration
    }

    private static func log(_ line: String) {
        printToStandardError("\(HumanText.localTime(Int(Date().timeIntervalSince1970 * 1000))) \(line)")
    }
}
