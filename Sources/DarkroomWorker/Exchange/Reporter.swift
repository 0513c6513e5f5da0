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
            core.waitForLook()
            let isFlush = .now - lastFlush >= .seconds(3)
            if isFlush { lastFlush = .now }
            let reports = core.withLedger { $0.reports(now: .now, olderThan: isFlush ? .zero : Self.patience) }
            // A hundred operations a round keep pipelines and the manifest's texts small.
            for start in stride(from: 0, to: reports.count, by: 100)
            where !core.fileCalls.run(
                for: nil, { send(Array(reports[start..<min(start + 100, reports.count)]), &waiting) })
            {
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
                if !report.isCancelled { _ = core.isWaitedFor(error, of: report.context) }
            }
        }
        let lost = makeDurable(reports.filter { failures[$0.held] == nil })
        for report in reports where report.isCancelled {
            // Without its line a cancelled photo is as good: its batch does not wait for a full disk.
            failures[report.held] = nil
            core.withLedger { $0.reported(report, now: .now) }
        }
        let ready = reports.filter { failures[$0.held] == nil && !$0.isCancelled && !lost.contains($0.held) }
        for (held, why) in failures where waiting.insert(held).inserted {
            core.logger.error(
                "operation not reported before its files and its manifest are written, trying again",
                key: held.batch.description, LogMetadata(held).adding(["detail": .text(why)]))
        }
        let calls = ready.map { report in
            core.store.report(
                report.held, worker: core.id, stateCodes: report.stateCodes, bytesIn: report.bytesIn,
                bytesOut: report.bytesOut, failures: report.failures)
        }
        var isComplete = failures.isEmpty
        let highest = core.withLedger { $0.controls.highest }
        for (report, result) in zip(ready, core.store.results(of: calls)) {
            waiting.remove(report.held)
            do throws(StoreError) {
                settle(report, try result.get(), highest)
            } catch {
                core.redisFailed(error)  // what is reported twice counts once
                isComplete = false
            }
        }
        return isComplete
    }

    private func settle(_ report: WorkerLedger.Report, _ reply: ReportReply, _ highest: Int) {
        switch reply {
        case .accepted(let ended, let stateCodes, let version):
            if version != highest { core.steer { $0.answered(version, sent: highest) } }
            guard !ended else { return end(report.held, report) }
            core.withLedger { $0.reported(report, now: .now) }
            if let stateCodes { core.adopt(stateCodes, of: report.held) }
        case .cancelled:
            // Heard before the hint: what runs of it stops, and it is handed back.
            core.withLedger { $0.reported(report, now: .now) }
            core.cancelled(report.held.batch)
        case .ended: end(report.held, report)
        case .gone, .lost:
            core.logger.warning(
                "report refused, the operation is not this worker's any more", key: report.held.batch.description,
                LogMetadata(report.held).adding(["fence": .number(report.held.fencingToken)]))
            core.drop([report.held])
        }
    }

    /// The operation has ended: the manifest files of others that had it go.
    private func end(_ held: HeldOperation, _ report: WorkerLedger.Report) {
        core.ended(held)
        if report.hasPast { ManifestFiles.removeOthers(held, forgotten: report.forgottenFences, report.context) }
    }

    /// Makes the files and folders of the reports durable: one `syncfs` a file system, which is several times faster than
    /// an `fsync` for each file and folder. A file system that fails says so once, and its next answer is good although the
    /// files are lost: so whatever was written there and not reported yet is given up, to be developed again.
    /// - Returns: the operations that were given up.
    private func makeDurable(_ reports: [WorkerLedger.Report]) -> Set<HeldOperation> {
        var given: Set<HeldOperation> = []
        var folders: [dev_t: (folder: OpenFolder, place: OutputPlace)] = [:]
        for report in reports where report.lines.contains(where: { $0 != nil }) {
            guard let folder = report.folder, let place = report.context.place, !given.contains(report.held)
            else { continue }
            guard folder.isStillThere else {
                let operations = core.withLedger { $0.operations(in: folder) }
                let obstacle = OutputObstacle(at: place)
                let why = obstacle?.detail ?? "something else is mounted at \(place.signPath) than before"
                core.giveUp(operations, why, obstacle)
                given.formUnion(operations)
                continue
            }
            // Who was there first is told everything that the others would be told.
            if folders[folder.device].map({ folder.opened < $0.folder.opened }) ?? true {
                folders[folder.device] = (folder, place)
            }
        }
        guard core.configuration.isDurable else { return given }
        for (device, (folder, place)) in folders {
            let error = core.configuration.syncFileSystem(folder.folder.descriptor)
            guard error != 0 else { continue }
            let why = "make \(place.folder) durable: \(String(cString: strerror(error)))"
            let operations = core.withLedger { $0.operations(onDevice: UInt(device)) }
            let isFull = error == ENOSPC || error == EDQUOT
            core.giveUp(
                operations, why,
                OutputObstacle(
                    isFull ? .full : .failing, place, folder: "", bytes: OutputObstacle.leastRoom, detail: why))
            given.formUnion(operations)
        }
        return given
    }

    private func handBack() -> Bool {
        let operations = core.withLedger { $0.toHandBack(now: .now) }
        let calls = operations.map { held in
            core.store.release(
                held, worker: core.id, isRefused: core.refusals.withLock { $0.contains(held.batch) })
        }
        var isComplete = true
        for (held, result) in zip(operations, core.store.results(of: calls)) {
            switch result {
            // Tried again until the grace time ends; then the lease expires.
            case .failure: isComplete = false
            case .success(let reply):
                let operation = core.withLedger { $0.operations[held] }
                // Gone, lost and ended are as good as queued: it is no longer this worker's.
                core.drop([held])
                guard case .cancelled = reply else { continue }
                if let operation, operation.hasPast {
                    ManifestFiles.removeOthers(held, forgotten: operation.forgottenFences, operation.context)
                }
                if operation != nil { core.noteEnd(of: [held.batch]) }
            }
        }
        return isComplete
    }
}
