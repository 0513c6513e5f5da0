import CSystem
import DarkroomConcurrency
import DarkroomLogging
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

    /// Reports a round. Of cancelled batches only the manifests are written: what was in place keeps its line, and the
    /// hand-back that follows tells Redis.
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
        for report in reports where report.isCancelled {
            // Without its line a cancelled photo is as good: its batch does not wait for a full disk.
            failures[report.held] = nil
            core.withLedger { $0.reported(report, now: .now) }
        }
        let ready = reports.filter { failures[$0.held] == nil && !$0.isCancelled }
        for (held, why) in failures where waiting.insert(held).inserted {
            core.logger.error(
                "operation not reported before its files and its manifest are written, trying again",
                key: held.batch.description, LogMetadata(held).adding(["detail": .text(why)]))
        }
        let calls = ready.map { report in
            core.store.report(
                report.held, worker: core.id, letters: report.letters, bytesIn: report.bytesIn,
                bytesOut: report.bytesOut, failures: report.failures)
        }
        var isComplete = failures.isEmpty
        let known = core.withLedger { $0.steering.known }
        for (report, result) in zip(ready, core.store.results(of: calls)) {
            waiting.remove(report.held)
            do throws(StoreError) {
                settle(report, try result.get(), known)
            } catch {
                core.redisFailed(error)  // what is reported twice counts once
                isComplete = false
            }
        }
        return isComplete
    }

    private func settle(_ report: WorkerLedger.Report, _ reply: ReportReply, _ known: Int?) {
        switch reply {
        case .accepted(let ended, let letters, let version):
            if version != known { core.steer { $0.answered(version, sent: known) } }
            guard !ended else { return end(report.held, report) }
            core.withLedger { $0.reported(report, now: .now) }
            if let letters { core.adopt(letters, of: report.held) }
        case .cancelled:
            // Heard before the hint: what runs of it stops, and it is handed back.
            core.withLedger { $0.reported(report, now: .now) }
            core.cancelled(report.held.batch)
        case .ended: end(report.held, report)
        case .gone, .lost:
            core.logger.warning(
                "report refused, the operation is not this worker's any more", key: report.held.batch.description,
                LogMetadata(report.held).adding(["fence": .number(report.held.fence)]))
            core.drop([report.held])
        }
    }

    /// The operation has ended: the manifest files of others that had it go.
    private func end(_ held: HeldOperation, _ report: WorkerLedger.Report) {
        core.ended(held)
        if report.hasPast { ManifestFiles.removeOthers(held, forgotten: report.forgottenFences, report.context) }
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
        let operations = core.withLedger { $0.toHandBack(now: .now) }
        let calls = operations.map { core.store.handback($0, worker: core.id) }
        var isComplete = true
        for (held, result) in zip(operations, core.store.results(of: calls)) {
            switch result {
            // Tried again until the grace time ends; then the lease expires.
            case .failure: isComplete = false
            case .success(let reply):
                let operation = core.withLedger { $0.operations[held] }
                // Gone, lost and ended are as good as queued: it is no longer this worker's.
                core.drop([held])
                if case .cancelled = reply, let operation, operation.hasPast {
                    ManifestFiles.removeOthers(held, forgotten: operation.forgottenFences, operation.context)
                }
            }
        }
        return isComplete
    }
}
