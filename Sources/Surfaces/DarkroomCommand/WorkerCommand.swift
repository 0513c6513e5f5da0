import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import DarkroomLogging
import DarkroomStore
import DarkroomTelemetry
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
            "darkroom worker --custom-filter-input png --custom-filter flip='convert png:- -flip -'",
        ],
        mainOptions: [
            "redis", "outputs-under", "downloads", "filtrations", "per-host", "rate", "custom-filter",
            "custom-filter-input",
            "allow-private", "files-under", "when-disk-full", "metrics", "log-level",
        ])

    @Option(
        help: "Write only below this folder. Other workers run the batches with another output folder.",
        valueName: "folder")
    var outputsUnder: [String]
    @Option(
        help: """
            Serve metrics for Prometheus at /metrics, and /healthz and /readyz, on this address. A port alone is a \
            port of 127.0.0.1.
            """,
        valueName: "[host:]port",
        synonyms: ["port", "p", "listen", "prometheus"])
    var metrics: String?
    @OptionGroup(title: "Worker options") var slots: SlotOptions
    @OptionGroup(title: "Custom filter options") var customFilters: CustomFilterOptions
    @OptionGroup(title: "Disk options") var disk: DiskOptions
    @OptionGroup(title: "Fetch options") var fetch: FetchOptions
    @OptionGroup(title: "Webhook options") var webhooks: WebhookOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions
    @OptionGroup(title: "Log options") var logging: LogOptions

    func validate() throws { _ = try metricsAddress() }

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
        let metricsAddress = try metricsAddress()
        let telemetry = WorkerTelemetry(hasMetrics: metricsAddress != nil, logger: logger) { warning in
            logger.warning("a variable of OpenTelemetry is ignored", ["detail": .text(warning)])
        }
        let worker = try Worker(
            redis: address, keys: redis.keys(), configuration: configuration, observer: telemetry.observer,
            logger: logger)
        running.withLock { $0 = worker }
        let server = try metricsAddress.map { try telemetry.serve(worker, at: $0) }
        if let server {
            logger.info("metrics are served", ["url": .text("http://\(server.address)/metrics")])
        }
        try worker.start()
        worker.wait()
        server?.stop()
        telemetry.stop(patience: left.withLock { $0 } ? .zero : .seconds(1))
        if left.withLock({ $0 }) { throw ExitCode.interrupted }
    }

    /// The address of `--metrics`; nil if the option is not given.
    private func metricsAddress() throws -> ListenAddress? {
        guard let metrics else { return nil }
        guard let address = ListenAddress(metrics, defaultPort: Self.defaultMetricsPort) else {
            throw ValidationError(
                "--metrics \(metrics): not an IP address and a port, such as 9464, 0.0.0.0:9464 or [::1]:9464")
        }
        return address
    }

    /// The port of OpenTelemetry's exporter for Prometheus.
    private static let defaultMetricsPort: UInt16 = 9464

    /// The configuration from the options; warnings about them are logged.
    func workerConfiguration(_ logger: Logger = .silent) throws -> PhotoWorkerConfiguration {
        var configuration = try PhotoWorkerConfiguration([slots, customFilters, disk, fetch, webhooks])
        configuration.useThisProgramAsHelper(arguments: [])
        configuration.outputFolders = try outputsUnder.map { try existingPlace($0, "--outputs-under") }
        configuration.downloadRules.folders = try fetch.folders
        configuration.webhookSecret = try webhooks.secret { warning in
            logger.warning("the webhook options can cause problems", ["detail": .text(warning)])
        }
        return configuration
    }
}
