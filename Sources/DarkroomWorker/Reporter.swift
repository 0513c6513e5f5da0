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

    /// Runs until ``stop()``; at the end hands back what is left to hand back.
    func run() {
        var retryAt: ContinuousClock.Instant?
        var lastFlush = ContinuousClock.now
        var waiting: Set<HeldOperation> = []  // whose manifest could not be written, said once
        while !stopped.isSet {
            let due = retryAt ?? core.withLedger { $0.nextReport(after: Self.patience) }
            core.reportSignal.wait(timeout: due.map { max(.milliseconds(1), $0 - .now) } ?? .seconds(3))
            if let time = retryAt, .now < time, !core.withLedger({ $0.isStopping }) { continue }
            retryAt = nil
            guard core.heartBeats.withLock({ $0 }) else {
                retryAt = .now + .seconds(1)
                continue
            }
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
        _ = handBack()
    }

    /// Reports a round.
    /// - Returns: false when something is to be tried again later.
    private func send(_ reports: [WorkerLedger.Report], _ waiting: inout Set<HeldOperation>) -> Bool {
        var failures: [HeldOperation: String] = [:]
        for report in reports {
            do throws(OutputWriter.Failure) {
                try ManifestFiles.write(report, worker: core.id)
            } catch {
                failures[report.held] = error.detail
            }
        }
        let notDurable = makeDurable(reports.filter { failures[$0.held] == nil })
        for report in reports {
            if let folder = report.context.manifestFolder, let why = notDurable[folder] { failures[report.held] = why }
        }
        let ready = reports.filter { failures[$0.held] == nil }
        for (held, why) in failures where waiting.insert(held).inserted {
            core.log(
                "operation \(held.number) of \(held.batch) cannot be reported before its files and its manifest are "
                    + "written, trying again: \(why)")
        }
        let calls = ready.map { report in
            core.store.report(
                report.held, worker: core.id, letters: report.letters, bytesIn: report.bytesIn,
                bytesOut: report.bytesOut, failures: report.failures)
        }
        var isComplete = failures.isEmpty
        for (report, result) in zip(ready, core.store.results(of: calls)) {
            waiting.remove(report.held)
            do throws(StoreError) {
                settle(report, try result.get())
            } catch {
                core.redisFailed(error)  // what is reported twice counts once
                isComplete = false
            }
        }
        return isComplete
    }

    private func settle(_ report: WorkerLedger.Report, _ reply: ReportReply) {
        switch reply {
        case .accepted(ended: false, let letters, _):
            core.withLedger { $0.reported(report, stored: letters, now: .now) }
        case .accepted(ended: true, _, _), .ended:
            _ = core.withLedger { $0.drop(report.held) }
            if report.hasPast { ManifestFiles.removeOlder(report.held, report.context) }
            core.claimSignal.raise()
        case .gone, .lost:
            core.drop([report.held])
        case .cancelled:
            core.drop([report.held])
            core.withLedger { $0.giveBack(report.held) }
        }
    }

    /// Makes the files and folders of the reports durable: one `syncfs` a file system, which is several times faster than
    /// an `fsync` for each file and folder.
    /// - Returns: the manifest folders whose file systems did not, and why.
    private func makeDurable(_ reports: [WorkerLedger.Report]) -> [String: String] {
        var synced: [dev_t: String?] = [:]
        var failures: [String: String] = [:]
        let written = reports.filter { $0.lines.contains { $0 != nil } }
        for folder in Set(written.compactMap(\.context.manifestFolder)) {
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            var status = stat()
            guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
                failures[folder] = "open \(folder): \(String(cString: strerror(errno)))"
                continue
            }
            defer { close(descriptor) }
            if synced[status.st_dev] == nil {
                let error = csystem_syncfs(descriptor) == 0 ? nil : String(cString: strerror(errno))
                synced[status.st_dev] = .some(error)
            }
            if let error = synced[status.st_dev] ?? nil { failures[folder] = "make \(folder) durable: \(error)" }
        }
        return failures
    }

    private func handBack() -> Bool {
        let operations = core.withLedger { $0.toHandBack }
        let calls = operations.map { core.store.handback($0, worker: core.id) }
        var isComplete = true
        for (held, result) in zip(operations, core.store.results(of: calls)) {
            // Gone, lost and ended are as good as queued: it is no longer this worker's. A failure is tried again until the
            // grace time ends; then the lease expires.
            if case .failure = result { isComplete = false } else { _ = core.withLedger { $0.drop(held) } }
        }
        return isComplete
    }
}
