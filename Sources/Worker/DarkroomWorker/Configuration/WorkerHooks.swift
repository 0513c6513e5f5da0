import CSystem
import DarkroomTransfer
import Foundation

/// Properties of a worker that tests and benchmarks change, and users cannot.
package struct WorkerHooks: Sendable {
    /// How a worker runs the operations that it claims.
    package enum Work: Sendable {
        /// Downloads, filters and writes their photos.
        case photos
        /// Reports every photo as filtered without downloading it. Used to measure the queue alone.
        case nothing
    }

    package var work = Work.photos
    /// If false, the worker ignores all change notices. Used to measure the cost of lost notices.
    package var receivesNotices = true
    /// The settings of the transfer engine that ``DownloadRules`` does not have.
    package var transfer = TransferConfiguration()
    /// The worker releases an operation whose photos all wait only if the wait is at least this long.
    package var leastDeferral: Duration = .seconds(10)
    /// How long a file system call for an operation may take before the worker stops renewing the lease of the
    /// operation. Must be longer than the slowest disk needs to flush its cache; otherwise no worker could finish an
    /// operation.
    var fileCallPatience: Duration = .seconds(300)
    /// How long the claim loop waits for the preparation of claimed operations, which accesses the folders of their
    /// batches. After twice this time, the worker stops renewing the leases of the operations. Must be longer than
    /// ``holderPatience``.
    var claimPatience: Duration = .seconds(15)
    /// How long the preparation of a claimed operation waits for the lock that protects the holder of the output
    /// folder. After this time, the worker refuses the batch.
    var holderPatience: Duration = .seconds(1)
    /// Writes all files of a file system to the disk. The argument is a descriptor of a file in this file system.
    /// Returns 0 or `errno`.
    var syncFileSystem: @Sendable (Int32) -> Int32 = { csystem_syncfs($0) == 0 ? 0 : errno }

    package init() {}
}
