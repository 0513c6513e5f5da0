import CSystem
import DarkroomModel
import DarkroomExecution
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// What one worker may do and how much of it at once.
package struct WorkerConfiguration: Sendable {
    /// What a worker does with the operations that it claims.
    package enum Work: Sendable {
        /// Downloads, filters and writes their photos.
        case photos
        /// Reports every photo as filtered and does nothing: for measuring the queue alone.
        case nothing
    }

    /// Downloads at once.
    package var downloads = 32
    /// Filtrations at once; the cores that the process may use unless told.
    package var filtrations = ProcessInfo.processInfo.activeProcessorCount
    /// How long running photos may take to end once the worker was asked to stop.
    package var grace: Duration = .seconds(10)
    /// The folders that outputs must lie below; empty allows any.
    package var outputsUnder: [String] = []
    /// What may be fetched from where, and how long it may take.
    package var transfer = TransferConfiguration()
    /// The most pixels a photo may have, by its header.
    package var maxPixels = 100_000_000
    /// The processor time that decoding, filtering and encoding a photo of up to 20 million pixels may take; larger photos get more
    /// in proportion. What takes longer fails as `filter-timeout`.
    ///
    /// The libraries of all photos but JPEGs that become JPEGs cannot be stopped. With
    /// ``useThisProgramAsHelper(arguments:environment:)`` such photos are developed in helper processes, which the worker
    /// ends in time. Without helpers such photos fail only when the call of the library returns. An operation of one's own
    /// that runs in the worker fails when it returns.
    package var photoTimeout: Duration = .seconds(60)
    /// The most downloaded bytes that wait for their filter before downloads pause.
    package var maxBytesHeld = 128 << 20
    /// What becomes of photos whose files find no room on the disk.
    package var whenDiskFull = WhenDiskFull.wait
    /// Whether files and their folders are on the disk before a photo is reported. Without it reporting costs less, and a power
    /// cut can lose files that Redis counts as filtered.
    package var isDurable = true
    /// The hosts that webhooks are delivered to from here; none unless told.
    package var webhookHosts = WebhookHosts()
    /// What webhooks are signed with, so that their receivers know who sent them; nil sends them without a signature.
    package var webhookSecret: [UInt8]?
    /// How readily filtrations get the processor, from 0.0 (when nobody else wants it) over 0.5 (as the process does) to 1.0.
    /// Above 0.5 the system asks for privileges.
    package var threadPriority = 0.5
    /// Develops every photo in a helper process, so that a photo that crashes its decoder ends the helper and not the worker.
    /// By default only photos whose libraries cannot be stopped (see ``photoTimeout``), and photos on which two workers have
    /// died, are developed there. Requires ``useThisProgramAsHelper(arguments:environment:)``.
    package var isolatesEveryPhoto = false
    /// What a helper process may use.
    package var helperLimits = HelperLimits()
    /// The arguments of a helper process, the first is what it is called; nil when there are none.
    var helperArguments: [String]?
    /// The names of the environment variables that helper processes get.
    var helperVariables: Set<String> = []
    /// What makes operations of one's own, by name, see ``register(_:as:)``.
    var operations: [String: @Sendable () -> any PhotoOperation] = [:]
    package var work = Work.photos
    /// False makes the worker deaf to what is published, as if every message were lost: for measuring what that costs.
    package var receivesNotices = true
    /// Called with each step of each photo, on the thread of the step. Must not block.
    package var observer: (@Sendable (TraceEvent) -> Void)?
    /// How long operations of a suspended batch are held for their downloaded bytes.
    package var holdsSuspended: Duration = .seconds(600)
    /// How long operations whose output cannot be written are held.
    package var holdsBlocked: Duration = .seconds(30)
    /// How long a file system call may take before its operation is left to other workers. It must be longer than the slowest
    /// disk takes to write its cache: an operation that is always left too early never finishes.
    package var fileCallPatience: Duration = .seconds(300)
    /// How long claims wait until the operations of a batch are taken up, which reads its folders. After twice this time they are left to
    /// others. Longer than ``FolderHolder`` waits for a lock.
    package var claimPatience: Duration = .seconds(15)
    /// Makes everything durable that was written to the file system of a descriptor: 0, or the system's number of an error.
    package var syncFileSystem: @Sendable (Int32) -> Int32 = { csystem_syncfs($0) == 0 ? 0 : errno }

    /// The configuration that holds unless told.
    package init() {}
}
