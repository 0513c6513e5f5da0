import DarkroomWorker

/// The permissions and limits of a worker.
public struct PhotoWorkerConfiguration: Sendable {
    /// The most concurrent downloads.
    public var downloads = 32
    /// The most concurrent filtrations; nil for the number of processor cores.
    public var filtrations: Int?
    /// The time in which running photos may end after ``PhotoWorker/stop()``.
    public var gracePeriod: Duration = .seconds(10)
    /// The existing folders below which output folders must be, as absolute paths. The worker refuses batches with another output folder. Empty allows every
    /// folder: then all users who may submit a batch decide where the worker writes.
    public var outputFolders: [String] = []
    /// The rules for downloads.
    public var downloadRules = DownloadRules()
    /// The most pixels of a photo, according to its header.
    public var maxPixels = 100_000_000
    /// The processor time limit for a photo of up to 20 million pixels, and proportionally more for larger ones. A photo that takes
    /// longer fails for the reason ``FailureReason/filterTimeout``.
    ///
    /// Inside the worker, only JPEGs that become JPEGs can be stopped. With ``useThisProgramAsHelper(arguments:environment:)`` the
    /// worker ends helper processes in time. Without helpers, other photos fail when the library call returns.
    public var photoTimeout: Duration = .seconds(60)
    /// The most downloaded bytes that wait for a filtration. Downloads pause above it.
    public var maxWaitingBytes = 128 << 20
    /// If the disk is full, waits until there is free space. If false, photos fail for the reason ``FailureReason/diskFull``.
    public var waitsForDiskSpace = true
    /// Makes files and folders durable before a photo is reported. If false, a power failure can lose files of photos that Redis
    /// counts as filtered.
    public var isDurable = true
    /// The allowed hosts of webhooks, also private ones: `HOST`, `HOST:PORT`, `*.HOST`.
    public var webhookHosts: [String] = []
    /// The secret that signs webhooks; nil sends them unsigned.
    public var webhookSecret: [UInt8]?
    /// The priority of filtration threads: 0.0 is the lowest, 0.5 that of the process, 1.0 the highest. Values above 0.5 require
    /// privileges.
    public var threadPriority = 0.5
    /// Develops every photo in a helper process, so a photo that crashes its decoder does not end the worker. If false, the worker
    /// itself develops JPEGs that become JPEGs, unless two workers have crashed on them. Requires
    /// ``useThisProgramAsHelper(arguments:environment:)``.
    public var isolatesEveryPhoto = false
    /// The settings of ``register(_:_:)`` and ``useThisProgramAsHelper(arguments:environment:)``.
    private var base = WorkerConfiguration()

    /// The default configuration.
    public init() {}

    /// Registers a custom operation for batches whose filter is ``PhotoFilter/custom(_:)`` with this name. Replaces an earlier
    /// operation with the same name.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - make: creates an operation. Called for each photo on the thread that runs the operation. Must be quick.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` if the name is invalid.
    public mutating func register(_ name: String, _ make: @escaping @Sendable () -> any PhotoOperation) throws {
        do {
            try base.register(name, make)
        } catch {
            throw DarkroomError(.invalidConfiguration, "register operation \"\(name)\"", "\(error)", cause: error)
        }
    }

    /// Uses this program, with these arguments, as the helper process of its workers. A helper develops the photos on which two
    /// workers have crashed, and those whose libraries cannot be stopped.
    ///
    /// ```swift
    /// var configuration = PhotoWorkerConfiguration()
    /// try configuration.register("checksum") { Checksum() }
    /// configuration.useThisProgramAsHelper()  // in a helper process this does not return
    /// ```
    ///
    /// If the program was started as a helper, this call serves the worker with the operations registered so far, and never
    /// returns. So call it early in `main`, before any work that a helper should not do. Without helpers, a photo that crashes its
    /// decoder ends five workers before the rest of its operation fails for the reason ``FailureReason/crashed``.
    ///
    /// A helper is confined before it gets a photo: it can compute and start threads, but cannot open files, make connections or
    /// start processes. An operation that needs a file must read it before this call.
    /// - Parameters:
    ///   - arguments: the arguments of the helper.
    ///   - environment: the names of further environment variables for the helper, besides those that its libraries need.
    public mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        base.useThisProgramAsHelper(arguments: arguments, environment: environment)
    }

    /// - Throws: an error that describes the setting that is invalid.
    func workerConfiguration() throws -> WorkerConfiguration {
        try check()
        var configuration = base
        configuration.downloads = downloads
        configuration.filtrations = filtrations ?? configuration.filtrations
        configuration.grace = gracePeriod
        configuration.outputsUnder = outputFolders
        configuration.transfer = try downloadRules.transferConfiguration()
        configuration.maxPixels = maxPixels
        configuration.photoTimeout = photoTimeout
        configuration.maxBytesHeld = maxWaitingBytes
        configuration.whenDiskFull = waitsForDiskSpace ? .wait : .fail
        configuration.isDurable = isDurable
        configuration.webhookHosts = try WebhookHosts(parsing: webhookHosts)
        configuration.webhookSecret = webhookSecret
        configuration.threadPriority = threadPriority
        configuration.isolatesEveryPhoto = isolatesEveryPhoto
        return configuration
    }
}
