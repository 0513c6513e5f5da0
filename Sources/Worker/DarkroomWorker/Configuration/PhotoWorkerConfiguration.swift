import DarkroomModel
import DarkroomRecipes
import Foundation

/// The permissions and limits of a worker.
public struct PhotoWorkerConfiguration: Sendable {
    /// The maximum number of downloads that receive data at the same time. If nil, the number is 128 for each processor
    /// core, but at most 1024. Up to 2,000 further downloads wait for their servers.
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
    /// The maximum number of downloaded bytes that wait for filtration. Downloads pause while this number is exceeded.
    /// By default 32 MiB for each core, at least 64 MiB and at most 128 MiB.
    public var maxWaitingBytes = min(128 << 20, max(64 << 20, ProcessInfo.processInfo.activeProcessorCount << 25))
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
    /// The folders from which watermarks are read, besides the folders of local photos.
    package var watermarkFolders: [String] = []
    /// The limits of custom filters that are commands.
    package var commandLimits = CommandLimits()
    /// The custom filters of the worker, by name.
    private(set) var customFilters: [String: CustomFilterCode] = [:]
    /// The arguments of a helper process, beginning with its name; nil if the worker has no helpers.
    var helperArguments: [String]?
    /// The names of the environment variables that are passed to helper processes.
    var helperVariables: Set<String> = []

    /// Creates the default configuration.
    public init() {}

    /// Checks all settings, including ``downloadRules``. The upper bounds are larger than any useful value; they keep sums
    /// and products of settings within 64 bits.
    /// - Throws: ``InvalidSetting`` for the first setting that is not allowed.
    package func check() throws(InvalidSetting) {
        let check = SettingCheck()
        try check.number("downloads", downloads, in: 1...10_000, SettingNumber.count)
        try check.number("filtrations", filtrations, in: 1...10_000, SettingNumber.count)
        try check.number("gracePeriod", gracePeriod, in: .zero...SettingCheck.year, SettingNumber.duration)
        try check.number("maxPixels", maxPixels, in: 1...1_000_000_000_000, SettingNumber.pixels)
        try check.number("photoTimeout", photoTimeout, in: .seconds(1)...SettingCheck.year, SettingNumber.duration)
        try check.number("maxWaitingBytes", maxWaitingBytes, in: 1...1 << 40, SettingNumber.bytes)
        try check.number("threadPriority", threadPriority, in: 0...1, SettingNumber.share)
        // A program cannot even start with less memory.
        try check.number("commandLimits.memory", commandLimits.memory, in: 16 << 20...1 << 40, SettingNumber.bytes)
        try check.number(
            "commandLimits.time", commandLimits.time, in: .seconds(1)...SettingCheck.year, SettingNumber.duration)
        try check.places("outputFolders", outputFolders)
        _ = try parsedWebhookHosts
        try downloadRules.check()
    }

    /// The number of concurrent downloads. The default is high, so that slow servers do not keep the processors
    /// waiting. More downloads cost only memory, which is bounded by ``maxWaitingBytes``.
    var downloadSlots: Int { downloads ?? min(1024, 128 * ProcessInfo.processInfo.activeProcessorCount) }

    /// The number of concurrent filtrations.
    package var filtrationSlots: Int { filtrations ?? ProcessInfo.processInfo.activeProcessorCount }

    var parsedWebhookHosts: WebhookHosts {
        get throws(InvalidSetting) {
            do throws(InvalidWebhookHost) {
                return try WebhookHosts(parsing: webhookHosts)
            } catch {
                throw SettingCheck().invalid("webhookHosts", "\"\(error.text)\"", error.problem)
            }
        }
    }

    /// Adds a custom filter for batches with the filter `x:<name>`. Replaces a filter of this name. `make` is called for
    /// each photo, on the thread that runs the filter, and must be quick.
    /// - Throws: `InvalidFilterName` if the name is invalid.
    package mutating func addFilter(
        _ name: String, _ make: @escaping @Sendable () -> any CustomFilter
    ) throws(InvalidFilterName) {
        guard PhotoFilter.Custom.isName(name) else { throw InvalidFilterName(name: name) }
        customFilters[name] = .registered(make)
    }

    /// Adds a command for batches with the filter `x:<name>`. Replaces a filter of this name.
    package mutating func addFilter(_ command: FilterCommand) { customFilters[command.name] = .command(command) }
}

/// An invalid name of a custom filter.
package struct InvalidFilterName: Error, Equatable, CustomStringConvertible {
    package let name: String

    package var description: String {
        "custom filter \"\(name)\": a name has 1 to 64 letters, digits, \"_\" and \"-\""
    }
}
