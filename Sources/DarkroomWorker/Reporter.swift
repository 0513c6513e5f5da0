import CSystem
import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import Foundation

/// Reports what became of photos, on a thread of its own: files are in place, then the manifest is written, then both are
/// made durable, and only then Redis is told.
final class Reporter: Sendable {
    private let core: WorkerCore
    private let stopped = Latch()

    /// News wait this long for the end of their operation.
    private static let patience = Duration.seconds(1)

    init(_ core: WorkerCore) { self.core = core }

    /// Ends the thread once it is through with its round.
    func stop() {
        stopped.set()
        core.reportSignal.raise()
    }

    /// Runs until ``stop()``.
    func run() {
        var retryAt: ContinuousClock.Instant?
        var lastFlush = ContinuousClock.now
        var waiting: Set<HeldOperation> = []  // whose manifest could not be written, said once
        while !stopped.isSet {
            let next = core.withLedger { $0.nextReport(after: Self.patience) }
            let due = [next, retryAt].compactMap { $0 }.min()
            core.reportSignal.wait(timeout: due.map { max(.milliseconds(1), $0 - .now) } ?? .seconds(3))
            if let time = retryAt, .now < time { continue }
            retryAt = nil
            let isFlush = .now - lastFlush >= .seconds(3)
            if isFlush { lastFlush = .now }
            let reports = core.withLedger { $0.reports(now: .now, olderThan: isFlush ? .zero : Self.patience) }
            // A hundred operations a round keep pipelines and the manifest's texts small.
            for start in stride(from: 0, to: reports.count, by: 100)
            where !send(Array(reports[start..<min(start + 100, reports.count)]), &waiting) {
                retryAt = .now + .seconds(1)
            }
            if !handBack() { retryAt = .now + .seconds(1) }
        }
    }

    /// Reports a round.
    /// - Returns: false when something is to be tried again later.
    private func send(_ reports: [WorkerLedger.Report], _ waiting: inout Set<HeldOperation>) -> Bool {
        var isComplete = true
        var ready: [WorkerLedger.Report] = []
        for report in reports {
            do {
                try ManifestFiles.write(report, worker: core.id)
                ready.append(report)
                waiting.remove(report.held)
            } catch {
                isComplete = false
                guard waiting.insert(report.held).inserted else { continue }
                core.log(
                    "operation \(report.held.number) of \(report.held.batch) cannot be reported before its manifest is "
                        + "written, trying again: \(error.detail)")
            }
        }
        do {
            try makeDurable(ready)
            let calls = ready.map { report in
                core.store.report(
                    report.held, worker: core.id, letters: report.letters, bytesIn: report.bytesIn,
                    bytesOut: report.bytesOut, failures: report.failures)
            }
            for (report, reply) in zip(ready, try core.store.perform(calls)) { settle(report, reply) }
        } catch {
            // The heart says when Redis is away and back; what was reported twice counts once.
            if !(error is StoreError) { core.log("\(error)") }
            return false
        }
        return isComplete
    }

    private func settle(_ report: WorkerLedger.Report, _ reply: ReportReply) {
        switch reply {
        case .accepted(ended: false, let letters):
            core.withLedger { $0.reported(report, stored: letters, now: .now) }
        case .accepted(ended: true, _), .ended:
            _ = core.withLedger { $0.drop(report.held) }
            if report.hasPast { ManifestFiles.removeOlder(report.held, report.context) }
            core.claimSignal.raise()
        case .gone, .lost:
            core.drop([report.held])
        }
    }

    /// Makes the files and folders of the reports durable: one `syncfs` a file system, which is several times faster than
    /// an `fsync` for each file and folder.
    private func makeDurable(_ reports: [WorkerLedger.Report]) throws {
        var synced: Set<dev_t> = []
        for folder in Set(reports.filter { !$0.lines.isEmpty }.compactMap(\.context.manifestFolder)) {
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw NotDurable(folder: folder, error: errno) }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw NotDurable(folder: folder, error: errno) }
            guard synced.insert(status.st_dev).inserted else { continue }
            guard csystem_syncfs(descriptor) == 0 else { throw NotDurable(folder: folder, error: errno) }
        }
    }

    private func handBack() -> Bool {
        let operations = core.withLedger { $0.toHandBack }
        guard !operations.isEmpty else { return true }
        do {
            _ = try core.store.perform(operations.map { core.store.handback($0, worker: core.id) })
            core.withLedger { ledger in for held in operations { _ = ledger.drop(held) } }
            return true
        } catch {
            return false  // tried again until the grace time ends; then the leases expire
        }
    }
}

/// Written files could not be made durable, so that nothing may be reported.
struct NotDurable: Error, CustomStringConvertible {
    let folder: String
    let error: Int32

    var description: String {
        "\(folder): what was written cannot be made durable: \(String(cString: strerror(error))); trying again"
    }
}
