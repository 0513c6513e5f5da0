import CSystem
import DarkroomModel
import DarkroomExecution
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The configuration of one worker: its limits, folders, hosts and timeouts.
package struct WorkerConfiguration: Sendable {
    /// How a worker runs the operations that it claims.
    package enum Work: Sendable {
        /// Downloads, filters and writes their photos.
        case photos
        /// Reports every photo as filtered without downloading it: for measuring the queue alone.
        case nothing
    }

    /// How many downloads run at once.
    package var downloads = 32
    /// How many filtrations run at once; by default the number of cores that the process may use.
    package var filtrations = ProcessInfo.processInfo.activeProcessorCount
    /// How long running photos may take to end after ``Worker/stop()``.
    package var grace: Duration = .seconds(10)
    /// The folders that outputs must lie below; empty allows any.
    package var outputsUnder: [String] = []
    /// Which URLs and files may be fetched, and the timeouts of a fetch.
    package var transfer = TransferConfiguration()
    /// The most pixels a photo may have, by its header.
    package var maxPixels = 100_000_000
    /// The processor time that decoding, filtering and encoding a photo of up to 20 million pixels may take; larger photos get more
    /// in proportion. A photo that takes longer fails as `filter-timeout`.
    ///
    /// The image libraries can be stopped only for a JPEG that becomes a JPEG. With
    /// ``useThisProgramAsHelper(arguments:environment:)`` all other photos are developed in helper processes, which the worker
    /// ends in time. Without helpers such photos fail only when the call of the library returns. A custom operation that runs
    /// in the worker fails when it returns.
    package var photoTimeout: Duration = .seconds(60)
    /// Downloads pause while more downloaded bytes than this wait for their filters.
    package var maxBytesHeld = 128 << 20
    /// Whether photos whose files do not fit on the disk wait or fail.
    package var whenDiskFull = WhenDiskFull.wait
    /// Whether files and their folders are on the disk before a photo is reported. If false, reporting costs less, and a power
    /// cut can lose files that Redis counts as filtered.
    package var isDurable = true
    /// The hosts that this worker delivers webhooks to; none by default.
    package var webhookHosts = WebhookHosts()
    /// The secret that webhooks are signed with, so that receivers can verify the sender; nil sends them without a signature.
    package var webhookSecret: [UInt8]?
    /// The processor priority of filtrations, from 0.0 (only if no other thread needs the processor) over 0.5 (that of the process)
    /// to 1.0. Values above 0.5 require privileges.
    package var threadPriority = 0.5
    /// Develops every photo in a helper process, so that a photo that crashes its decoder ends the helper and not the worker.
    /// By default only photos whose libraries cannot be stopped (see ``photoTimeout``), and photos of quarantined operations (two
    /// or more lease expiries), are developed there. Requires ``useThisProgramAsHelper(arguments:environment:)``.
    package var isolatesEveryPhoto = false
    package var helperLimits = HelperLimits()
    /// The arguments of a helper process, the first is its name; nil if the worker has no helpers.
    var helperArguments: [String]?
    /// The names of the environment variables that helper processes get.
    var helperVariables: Set<String> = []
    /// The closures that make custom operations, by name, see ``register(_:_:)``.
    var operations: [String: @Sendable () -> any PhotoOperation] = [:]
    package var work = Work.photos
    /// If false, the worker ignores all change notices, as if every message were lost: for measuring the cost of lost messages.
    package var receivesNotices = true
    /// Called with each step of each photo, on the thread of the step. Must not block.
    package var observer: (@Sendable (TraceEvent) -> Void)?
    /// How long the worker holds operations of a suspended batch, to keep their downloaded bytes.
    package var holdsSuspended: Duration = .seconds(600)
    /// How long the worker holds operations whose output cannot be written.
    package var holdsBlocked: Duration = .seconds(30)
    /// How long a file system call may take before the worker stops renewing the lease of its operation. Must be longer than the
    /// slowest disk takes to write its cache: an operation that every worker gives up too early never finishes.
    package var fileCallPatience: Duration = .seconds(300)
    /// How long the claim loop waits while claimed operations are prepared, which accesses the folders of their batch. After twice
    /// this time the worker stops renewing their leases. Must be longer than ``FolderHolder`` waits for a lock.
    package var claimPatience: Duration = .seconds(15)
    /// Makes all written files of a descriptor's file system durable. Returns 0 or the system's error number.
    package var syncFileSystem: @Sendable (Int32) -> Int32 = { csystem_syncfs($0) == 0 ? 0 : errno }

    package init() {}

    /// Registers a custom operation for batches with the filter `x:<name>`. An operation that was registered under this name before
    /// is replaced. `make` is called for each photo, on the thread that runs the operation, and must be quick.
    /// - Throws: `InvalidCustomFilter` if the name is invalid.
    package mutating func register(
        _ name: String, _ make: @escaping @Sendable () -> any PhotoOperation
    ) throws(InvalidCustomFilter) {
        guard CustomFilter.isName(name) else {
            throw InvalidCustomFilter(
                description: "operation \"\(name)\": a name has 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        operations[name] = make
    }
}

/// How a worker handles photos whose files do not fit on the disk.
package enum WhenDiskFull: String, CaseIterable, Sendable {
    /// The photos wait until the disk has room. If they failed instead, one full disk would fail the rest of a long list.
    case wait
    /// The photos fail with the reason `disk-full`.
    case fail
}
