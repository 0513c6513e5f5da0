import DarkroomWorker

/// What a worker may do, and how much of it at once.
public struct PhotoWorkerConfiguration: Sendable {
    /// Downloads at once.
    public var downloads = 32
    /// Filtrations at once; nil is as many as there are processor cores.
    public var filtrations: Int?
    /// How long running photos may take to end after ``PhotoWorker/stop()``.
    public var gracePeriod: Duration = .seconds(10)
    /// The folders below which outputs must lie; batches with another output are left to other workers. Empty allows every folder,
    /// so that everybody who may submit a batch decides where the worker writes.
    public var outputFolders: [String] = []
    /// From where photos may be downloaded.
    public var downloadRules = DownloadRules()
    /// The most pixels of a photo, according to its header.
    public var maxPixels = 100_000_000
    /// The processor time that developing a photo of up to 20 million pixels may take, and proportionally more for larger ones. A photo
    /// that takes longer fails for the reason ``FailureReason/filterTimeout``.
    ///
    /// Only JPEGs that become JPEGs can be stopped inside the worker. With
    /// ``useThisProgramAsHelper(arguments:environment:)`` the worker ends helper processes in time; without helpers other photos fail
    /// when the call of the library returns.
    public var photoTimeout: Duration = .seconds(60)
    /// The most downloaded bytes that wait for their filter before downloads pause.
    public var maxWaitingBytes = 128 << 20
    /// Waits until there is room on a full disk. If it is false, photos fail for the reason ``FailureReason/diskFull``.
    public var waitsForDiskSpace = true
    /// Makes files and folders durable before a photo is reported. If it is false, a power failure can lose files that Redis counts as
    /// filtered.
    public var isDurable = true
    /// The hosts to which webhooks may be delivered, also private ones: `HOST`, `HOST:PORT`, `*.HOST`.
    public var webhookHosts: [String] = []
    /// The secret with which webhooks are signed; nil sends them unsigned.
    public var webhookSecret: [UInt8]?
    /// The priority of filtration threads, from 0.0 (lowest) over 0.5 (that of the process) to 1.0. Above 0.5 the system requires
    /// privileges.
    public var threadPriority = 0.5
    /// Develops every photo in a helper process, so that a photo that crashes its decoder does not end the worker. Otherwise JPEGs that
    /// become JPEGs are developed in the worker, unless two workers have crashed on them. Requires
    /// ``useThisProgramAsHelper(arguments:environment:)``.
    public var isolatesEveryPhoto = false
    /// What ``register(_:_:)`` and ``useThisProgramAsHelper(arguments:environment:)`` have set.
    private var base = WorkerConfiguration()

    /// The values above.
    public init() {}

    /// Makes a custom operation available to batches whose filter is ``PhotoFilter/custom(_:)`` with this name. An operation that was
    /// registered under the name before is replaced.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - make: makes an operation. It is called for each photo on the thread that runs the operation, and must be quick.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` for another name.
    public mutating func register(_ name: String, _ make: @escaping @Sendable () -> any PhotoOperation) throws {
        do {
            try base.register(name, make)
        } catch {
            throw DarkroomError(.invalidConfiguration, "register operation \"\(name)\"", "\(error)", cause: error)
        }
    }

    /// Makes this program, with these arguments, the helper process of its own workers. A helper develops the photos on which two workers
    /// have crashed, and those whose libraries cannot be stopped.
    ///
    /// ```swift
    /// var configuration = PhotoWorkerConfiguration()
    /// try configuration.register("checksum") { Checksum() }
    /// configuration.useThisProgramAsHelper()  // in a helper process this does not return
    /// ```
    ///
    /// If the program was started as a helper, this serves its worker with the operations that are registered by now, and never
    /// returns. So call it early in `main`, before anything that a helper should not do. Without helpers a photo that crashes its
    /// decoder ends five workers before the rest of its operation fails for the reason ``FailureReason/crashed``.
    ///
    /// A helper is confined before it gets a photo: it computes and starts threads, but can open no file, make no connection and start
    /// no process. An operation that needs a file reads it before this call.
    /// - Parameters:
    ///   - arguments: the arguments of the helper.
    ///   - environment: the names of environment variables that a helper gets besides those that its libraries need.
    public mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        base.useThisProgramAsHelper(arguments: arguments, environment: environment)
    }

    /// - Throws: an error that describes the setting that is invalid.
    func workerConfiguration() throws -> WorkerConfiguration {
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
