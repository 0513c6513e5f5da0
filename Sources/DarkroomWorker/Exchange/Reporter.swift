import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomStore
import DarkroomWorkerState
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
            let due = retryAt ?? core.read { $0.nextReport(after: Self.patience) }
            core.reportSignal.wait(timeout: due.map { max(.milliseconds(1), $0 - .now) } ?? .seconds(3))
            if let time = retryAt, .now < time, !core.read({ $0.isStopping }) { continue }
            retryAt = nil
            guard core.heartBeats.withLock({ $0 }) else {
                retryAt = .now + .seconds(1)
                continue
            }
            core.waitForLook()
            let isFlush = .now - lastFlush >= .seconds(3)
            if isFlush { lastFlush = .now }
            let effects = core.handle(.reportsDue(now: .now, olderThan: isFlush ? .zero : Self.patience))
            let reports = effects.compactMap { if case .report(let report) = $0 { report } else { nil } }
            // A hundred operations a round keep pipelines and the manifest's texts small.
            for start in stride(from: 0, to: reports.count, by: 100)
            where !core.fileCalls.run(
                for: nil, { send(Array(reports[start..<min(start + 100, reports.count)]), &waiting) })
            {
                retryAt = .now + .seconds(1)
            }
            if !release() { retryAt = .now + .seconds(1) }
        }
        _ = release()
    }

    /// Reports a round. Of cancelled batches only the manifests are written: what was in place keeps its line, and the
    /// hand-back that follows tells Redis.
    /// - Returns: false when something is to be tried again later.
    private func send(_ reports: [WorkerState.Report], _ waiting: inout Set<HeldOperation>) -> Bool {
        var failures: [HeldOperation: String] = [:]
        for report in reports {
            do throws(OutputWriter.Failure) {
                try ManifestFiles.write(
                    report.lines, of: report.held, report.resources.files.context.output, worker: core.id)
            } catch {
                failures[report.held] = error.detail
                if !report.isCancelled { _ = core.isWaitedFor(error, of: report.resources.files.context) }
            }
        }
        let lost = makeDurable(reports.filter { failures[$0.held] == nil })
        for report in reports where report.isCancelled {
            // Without its line a cancelled photo is as good: its batch does not wait for a full disk.
            failures[report.held] = nil
            core.handle(.reported(report, now: .now))
        }
        let ready = reports.filter { failures[$0.held] == nil && !$0.isCancelled && !lost.contains($0.held) }
        for (held, why) in failures where waiting.insert(held).inserted {
            core.logger.error(
                "operation not reported before its files and its manifest are written, trying again",
                key: held.batch.description, LogMetadata(held).adding(["detail": .text(why)]))
        }
        let calls = ready.map { report in
            core.store.report(
                report.held, worker: core.id, letters: report.stateCodes, bytesIn: report.bytesIn,
                bytesOut: report.bytesOut, failures: report.failures)
        }
        var isComplete = failures.isEmpty
        let highest = core.read { $0.controlsVersion }
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

    private func settle(_ report: WorkerState.Report, _ reply: ReportReply, _ highest: Int) {
        switch reply {
        case .accepted(let ended, let letters, let version):
            if version != highest { core.handle(.answered(ControlsAnswer(version: version, sent: highest))) }
            guard !ended else { return end(report.held, report) }
            core.handle(.reported(report, now: .now))
            if let letters { core.handle(.stateCodes(letters, of: report.held)) }
        case .cancelled:
            // Heard before the hint: what runs of it stops, and it is handed back.
            core.handle(.reported(report, now: .now))
            core.handle(.batchCancelled(report.held.batch))
        case .ended: end(report.held, report)
        case .gone, .lost:
            core.logger.warning(
                "report refused, the operation is not this worker's any more", key: report.held.batch.description,
                LogMetadata(report.held).adding(["fence": .number(report.held.fence)]))
            core.handle(.lost([report.held]))
        }
    }

    /// The operation has ended: the manifest files of others that had it go.
    private func end(_ held: HeldOperation, _ report: WorkerState.Report) {
        core.ended(held)
        if report.hasPast { report.resources.files.removeOtherManifests(of: held) }
    }

    /// Makes the files and folders of the reports durable: one `syncfs` a file system, which is several times faster than
    /// an `fsync` for each file and folder. A file system that fails says so once, and its next answer is good although the
    /// files are lost: so whatever was written there and not reported yet is given up, to be developed again.
    /// - Returns: the operations that were given up.
    private func makeDurable(_ reports: [WorkerState.Report]) -> Set<HeldOperation> {
        var given: Set<HeldOperation> = []
        var folders: [dev_t: (folder: OpenFolder, place: OutputPlace)] = [:]
        for report in reports where report.lines.contains(where: { $0 != nil }) {
            let files = report.resources.files
            guard let folder = files.folder, let place = files.context.output.place, !given.contains(report.held)
            else { continue }
            guard folder.isStillThere else {
                let operations = operations { $0.folder === folder }
                let fault = OutputFault(at: place)
                let why = fault?.detail ?? "something else is mounted at \(place.markerPath) than before"
                core.giveUp(operations, why, fault)
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
            let operations = operations { $0.folder?.device == device }
            let isFull = error == ENOSPC || error == EDQUOT
            core.giveUp(
                operations, why,
                OutputFault(
                    isFull ? .full : .failing, place, folder: "", bytes: OutputFault.leastRoom, detail: why))
            given.formUnion(operations)
        }
        return given
    }

    /// The local operations whose files meet a condition.
    private func operations(_ condition: (OperationFiles) -> Bool) -> [HeldOperation] {
        core.read { $0.localOperations }.filter { condition($0.resources.files) }.map(\.held)
    }

    /// Releases the operations that are due.
    /// - Returns: false when something is to be tried again later.
    private func release() -> Bool {
        let effects = core.handle(.releasesDue(now: .now))
        let releases = effects.compactMap { if case .release(let release) = $0 { release } else { nil } }
        let calls = releases.map { release in
            core.store.release(
                release.held, worker: core.id,
                isRefused: core.refusals.withLock { $0.contains(release.held.batch) })
        }
        var isComplete = true
        for (release, result) in zip(releases, core.store.results(of: calls)) {
            switch result {
            // Tried again until the grace time ends; then the lease expires.
            case .failure: isComplete = false
            case .success(let reply):
                // Whatever the reply is, the operation is no longer this worker's.
                core.handle(.released(release.held))
                guard case .cancelled = reply, let files = release.resources?.files else { continue }
                if release.hasPast { files.removeOtherManifests(of: release.held) }
                core.noteEnd(of: [release.held.batch])
            }
        }
        return isComplete
    }
}
