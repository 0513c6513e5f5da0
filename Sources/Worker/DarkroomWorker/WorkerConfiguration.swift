import CSystem
import DarkroomModel
import DarkroomRecipes
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The configuration of one worker: its limits, folders, hosts and timeouts.
package struct WorkerConfiguration: Sendable {
    /// How a worker runs the operations that it claims.
    package enum Work: Sendable {
        /// Downloads, filters and writes their photos.
        case photos
        /// Reports every photo as filtered without downloading it. Used to measure the queue alone.
        case nothing
    }

    /// The number of downloads that receive their bodies at the same time. Many more may wait for their servers, see
    /// ``TransferConfiguration/maxRequests``.
    package var downloads = Self.usualDownloads
    /// The number of concurrent filtrations; by default the number of cores that the process may use.
    package var filtrations = ProcessInfo.processInfo.activeProcessorCount
    /// The longest time for which running photos may continue after ``Worker/stop()``.
    package var grace: Duration = .seconds(10)
    /// The worker writes only to output folders inside these folders; empty allows any output folder.
    package var outputsUnder: [String] = []
    /// Which URLs and files may be fetched, and the timeouts of a fetch.
    package var transfer = TransferConfiguration()
    /// The largest number of pixels of a photo, according to its header; nil for the two default limits: one for
    /// pictures in memory, and a larger one for pictures that are never in memory as a whole.
    package var maxPixels: Int?
    /// The CPU time limit for decoding, filtering and encoding a photo. Photos with more than 20 million pixels have a
    /// higher limit, in proportion to their pixels. A photo that takes longer fails with the reason `filter-timeout`.
    ///
    /// The image libraries can be stopped only while they convert a JPEG to a JPEG. With
    /// ``useThisProgramAsHelper(arguments:environment:)``, all other photos are developed in helper processes, which
    /// the worker ends at the limit. Without helpers, these photos fail only when the call to the library has returned.
    /// A custom filter in the worker process fails only when it has returned.
    package var photoTimeout: Duration = .seconds(60)
    /// Downloads pause while more than this number of downloaded bytes wait for their filtration.
    package var maxBytesHeld = Self.usualBytesHeld
    /// An operation of which all photos wait for less time than this stays in the worker. It is released if they wait longer.
    package var leastDeferral: Duration = .seconds(10)
    /// What happens to photos whose files do not fit on the disk: they wait or they fail.
    package var whenDiskFull = WhenDiskFull.wait
    /// Whether the worker reports a photo only after its file and folder are safely on the disk. If false, reports cost
    /// less, but files that Redis counts as filtered can be lost in a power failure.
    package var isDurable = true
    /// The hosts to which this worker delivers webhooks; none by default.
    package var webhookHosts = WebhookHosts()
    /// The secret with which webhooks are signed, so that receivers can verify the sender; nil sends no signature.
    package var webhookSecret: [UInt8]?
    /// The CPU priority of filtrations: 0.0 runs them only if no other thread needs the CPU, 0.5 is the priority of the
    /// process, 1.0 is the highest. Values above 0.5 require privileges.
    package var threadPriority = 0.5
    /// Develops every photo in a helper process, so that a photo that crashes its decoder ends the helper and not the
    /// worker. By default only photos whose libraries cannot be stopped (see ``photoTimeout``) and photos of
    /// quarantined operations are developed in helpers. Requires ``useThisProgramAsHelper(arguments:environment:)``.
    package var isolatesEveryPhoto = false
    /// The arguments of a helper process, beginning with its name; nil if the worker has no helpers.
    var helperArguments: [String]?
    /// The names of the environment variables that are passed to helper processes.
    var helperVariables: Set<String> = []
    /// The folders from which watermarks are read, besides the folders of local photos.
    package var watermarkFolders: [String] = []
    /// The closures that make custom filters, by name, see ``register(_:_:)``.
    var customFilters: [String: @Sendable () -> any CustomFilter] = [:]
    /// The custom filters that are commands, by name, see ``register(_:)``.
    private(set) var commands: [String: FilterCommand] = [:]
    package var work = Work.photos
    /// If false, the worker ignores all change notices. Used to measure the cost of lost notices.
    package var receivesNotices = true
    /// Called with each observation; nil if nothing measures the worker.
    package var observer: WorkerObserver?
    /// How long a file system call may take before the worker stops renewing the lease of its operation. Must be longer
    /// than the slowest disk needs to flush its cache; otherwise no worker could finish an operation.
    var fileCallPatience: Duration = .seconds(300)
    /// How long the claim loop waits for the preparation of claimed operations, which accesses the folders of their
    /// batches. After twice this time, the worker stops renewing the leases of the operations. Must be longer than
    /// ``holderPatience``.
    package var claimPatience: Duration = .seconds(15)
    /// How long the preparation of a claimed operation waits for the lock of the output folder's holder. After this time,
    /// the worker refuses the batch.
    var holderPatience: Duration = .seconds(1)
    /// Writes all files of a file system to the disk. The argument is a descriptor of a file in this file system.
    /// Returns 0 or `errno`.
    var syncFileSystem: @Sendable (Int32) -> Int32 = { csystem_syncfs($0) == 0 ? 0 : errno }

    package init() {}

    /// Slow servers must not keep the processors waiting, and more downloads cost only memory, which is bounded by
    /// ``maxBytesHeld``.
    static let usualDownloads = min(1024, 128 * ProcessInfo.processInfo.activeProcessorCount)

    /// Enough photos for about a second of filtration, 64 to 128 MiB. More memory would not make a batch faster.
    package static let usualBytesHeld = min(
        128 << 20, max(64 << 20, ProcessInfo.processInfo.activeProcessorCount << 25))

    /// Registers a custom filter for batches with the filter `x:<name>`. An operation already registered under this
    /// name is replaced. `make` is called for each photo, on the thread that runs the operation, and must be quick.
    /// - Throws: `InvalidFilterName` if the name is invalid.
    package mutating func register(
        _ name: String, _ make: @escaping @Sendable () -> any CustomFilter
    ) throws(InvalidFilterName) {
        guard CustomStep.isName(name) else {
            throw InvalidFilterName(name: name)
        }
        customFilters[name] = make
        commands[name] = nil
    }

    /// Registers a command for batches with the filter `x:<name>`. An operation already registered under this name is
    /// replaced.
    package mutating func register(_ command: FilterCommand) {
        commands[command.name] = command
        customFilters[command.name] = nil
    }
}

/// An invalid name of a custom filter.
package struct InvalidFilterName: Error, Equatable, CustomStringConvertible {
    package let name: String

    package var description: String {
        "custom filter \"\(name)\": a name has 1 to 64 letters, digits, \"_\" and \"-\""
    }
}

/// How a worker handles photos whose files do not fit on the disk.
package enum WhenDiskFull: String, CaseIterable, Sendable {
    /// The photos wait until the disk has room. If they failed instead, one full disk would make all remaining photos
    /// of a long list fail.
    case wait
    /// The photos fail with the reason `disk-full`.
    case fail
}
