import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomLogging
import DarkroomStore
import DarkroomWorker
import Foundation

/// `darkroom worker`: claims operations and develops their photos until it is stopped.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "worker", abstract: "Develop the photos of queued batches until it is stopped.",
        discussion: """
            On the first SIGTERM or SIGINT (Ctrl-C) the worker stops gracefully: running photos get the grace time to \
            finish, all other photos are released for other workers. On a second signal, 0.2 s later or more, it exits \
            at once; other workers claim its operations after their leases have expired.
            """,
        group: "Worker", synonyms: ["start", "work"],
        examples: [
            "darkroom worker", "darkroom worker --redis redis://queue:6379 --outputs-under /mnt/photos",
            "darkroom worker --operation small='convert - -resize 800x800 jpg:-'",
        ])

    @Option(
        help: "Write only below this folder. Other workers run the batches with another output folder.",
        valueName: "folder")
    var outputsUnder: [String]
    @OptionGroup(title: "Worker options") var slots: SlotOptions
    @OptionGroup(title: "Operation options") var operations: OperationOptions
    @OptionGroup(title: "Disk options") var disk: DiskOptions
    @OptionGroup(title: "Fetch options") var fetch: FetchOptions
    @OptionGroup(title: "Webhook options") var webhooks: WebhookOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions
    @OptionGroup(title: "Log options") var logging: LogOptions

    func run() throws {
        // Signals must be handled before the first thread starts; at this point, the worker does not exist yet.
        let running = Locked<Worker?>(nil)
        let left = Locked(false)
        StopSignals.handle { count in
            guard let worker = running.withLock({ $0 }) else { endProcess(.interrupted) }
            if count == 1 {
                worker.stop()
            } else {
                left.withLock { $0 = true }
                worker.leave()
            }
        }
        let address = try redis.configuration()
        let logger = logging.logger("worker", to: logging.log())
        for warning in try RedisRequirements.check(address) {
            logger.warning("the settings of Redis can cause problems", ["detail": .text(warning)])
        }
        if geteuid() == 0 {
            logger.warning(
                "worker runs as root, a user who can write the output folders is enough",
                ["detail": .text("an attacker who takes over this process controls the whole machine")])
        }
        if outputsUnder.isEmpty {
            logger.warning(
                "this worker may write to every folder, limit it with --outputs-under FOLDER",
                ["detail": .text("every user who may submit a batch can choose the folder that this worker writes to")])
        }
        let configuration = try workerConfiguration(logger)
        let worker = try Worker(redis: address, keys: redis.keys(), configuration: configuration, logger: logger)
        running.withLock { $0 = worker }
        try worker.start()
        worker.wait()
        if left.withLock({ $0 }) { throw ExitCode.interrupted }
    }

    /// The configuration from the options; warnings about them are logged.
    func workerConfiguration(_ logger: Logger = .silent) throws -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        slots.apply(to: &configuration)
        try operations.apply(to: &configuration)
        disk.apply(to: &configuration)
        configuration.outputsUnder = try outputsUnder.map { try existingFolder($0, "--outputs-under") }
        configuration.transfer = try fetch.transferConfiguration()
        configuration.maxPixels = fetch.maxPixels.value
        try webhooks.apply(to: &configuration) { warning in
            logger.warning("the webhook options can cause problems", ["detail": .text(warning)])
        }
        return configuration
    }
}
