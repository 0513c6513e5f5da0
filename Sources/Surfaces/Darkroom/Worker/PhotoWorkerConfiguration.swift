import DarkroomWorker

/// The permissions and limits of a worker.
public struct PhotoWorkerConfiguration: Sendable {
    /// The maximum number of downloads that receive data at the same time; nil for 128 for each processor core, up to 1024.
    /// Up to 2,000 more wait for their servers.
    public var downloads: Int?
    /// The maximum number of concurrent filtrations; nil for the number of processor cores.
    public var filtrations: Int?
    /// How long running photos may continue after ``PhotoWorker/stop()`` is called.
    public var gracePeriod: Duration = .seconds(10)
    /// The existing folders that must contain the output folders, as absolute paths. The worker refuses
    /// batches with any other output folder. If empty, every folder is allowed, so all users who may
    /// submit a batch decide where the worker writes.
    public var outputFolders: [String] = []
    /// The rules for downloads.
    public var downloadRules = DownloadRules()
    /// The maximum number of pixels of a photo, according to its header. By default, 100 million for a photo whose pixels
    /// are in memory as a whole, and 1,000 million for a JPEG or WebP that the decoder makes smaller for `resize`, and for a
    /// JPEG that is developed in strips.
    public var maxPixels: Int?
    /// The CPU time limit for a photo of up to 20 million pixels. For larger photos, the limit grows in proportion to
    /// the number of pixels. A photo that exceeds its limit fails with the reason ``FailureReason/filterTimeout``.
    ///
    /// Inside the worker, only filtrations from JPEG to JPEG can be stopped at the limit. If
    /// ``useThisProgramAsHelper(arguments:environment:)`` was called, other photos are developed in helper processes,
    /// which are ended at the limit. Without helpers, these photos fail only after the call of the image library has
    /// returned.
    public var photoTimeout: Duration = .seconds(60)
    /// The maximum number of downloaded bytes that wait for filtration. Downloads pause while it is exceeded. By
    /// default 32 MiB for each core, at least 64 MiB and at most 128 MiB.
    public var maxWaitingBytes = WorkerConfiguration.usualBytesHeld
    /// Whether the worker waits for free space if the disk is full. If false, photos fail with the reason
    /// ``FailureReason/diskFull``.
    public var waitsForDiskSpace = true
    /// Whether files and folders are made durable before a photo is reported. If false, a power failure can lose the
    /// files of photos that Redis counts as filtered.
    public var isDurable = true
    /// The hosts to which webhooks may be sent, including private hosts: `HOST`, `HOST:PORT`, `*.HOST`.
    public var webhookHosts: [String] = []
    /// The secret for signing webhooks; if nil, webhooks are not signed.
    public var webhookSecret: [UInt8]?
    /// The priority of filtration threads: 0.0 is the lowest, 0.5 is the priority of the process, 1.0 is the highest.
    /// Values above 0.5 require privileges.
    public var threadPriority = 0.5
    /// Whether every photo is developed in a helper process, so that a photo that crashes its decoder does not end the
    /// worker. If false, the worker itself develops photos from JPEG to JPEG, unless two workers have crashed on the
    /// photo.
    /// Requires ``useThisProgramAsHelper(arguments:environment:)``.
    public var isolatesEveryPhoto = false
    /// The settings made by ``register(_:_:)`` and ``useThisProgramAsHelper(arguments:environment:)``.
    private var base = WorkerConfiguration()

    /// Creates the default configuration.
    public init() {}

    /// Registers a custom filter for batches with the filter ``PhotoFilter/custom(_:arguments:)`` of this name.
    /// Replaces a filter that was registered with the same name.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - make: creates a filter. Called for each photo, on the thread of the filter. Must return quickly.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` if the name is invalid.
    public mutating func register(_ name: String, _ make: @escaping @Sendable () -> any CustomFilter) throws {
        do {
            try base.register(name, make)
        } catch {
            throw DarkroomError(
                .invalidConfiguration, "register the custom filter \"\(name)\"", "\(error)", cause: error)
        }
    }

    /// Uses this program, with these arguments, as the helper process of its workers. A helper develops photos on which
    /// two workers have crashed, and photos whose filtration cannot be stopped inside the worker.
    ///
    /// ```swift
    /// var configuration = PhotoWorkerConfiguration()
    /// try configuration.register("checksum") { Checksum() }
    /// configuration.useThisProgramAsHelper()  // in a helper process this does not return
    /// ```
    ///
    /// In a process that was started as a helper, this call serves the worker with the custom filters registered so far,
    /// and never returns. Therefore call it early in `main`, before any work that a helper should not do. Without
    /// helpers, a photo that crashes its decoder ends five workers, one after the other; then the unfinished photos of
    /// its operation fail with the reason ``FailureReason/crashed``.
    ///
    /// A helper is confined before it gets a photo: it can compute and start threads, but it cannot open files, make
    /// connections or start processes. If a filter needs a file, read the file before this call.
    /// - Parameters:
    ///   - arguments: the arguments of the helper.
    ///   - environment: the names of further environment variables that are passed to the helper, in addition to those
    ///     that its libraries need.
    public mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        base.useThisProgramAsHelper(arguments: arguments, environment: environment)
    }

    /// - Throws: an error that describes the invalid setting.
    func workerConfiguration() throws -> WorkerConfiguration {
        try check()
        var configuration = base
        configuration.downloads = downloads ?? configuration.downloads
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
