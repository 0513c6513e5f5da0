import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// Reports the outcomes of photos, on a separate thread. When a photo has an outcome, its file already has its final
/// name. The loop writes the manifest, makes the photo's file and the manifest durable, and sends the report to Redis.
final class ReportLoop: Sendable {
    private let worker: WorkerCore
    private let stopped = Latch()

    /// The time after which the changes of an operation are reported if the operation has not ended.
    private static let patience = Duration.seconds(1)
    /// Each deferral is multiplied by a random factor between 1 and this factor, so that the operations of a host are
    /// not all due at the same time.
    private static let longestSpread = 1.1
    /// The time after a release for an idle worker in which this worker claims no operations of the same or a lower
    /// priority.
    private static let shareTime = Duration.milliseconds(500)

    init(_ worker: WorkerCore) { self.worker = worker }

    private var coordination: Coordination { worker.coordination }

    /// Ends the thread after the current iteration of ``run()``.
    func stop() {
        stopped.set()
        coordination.reportSignal.raise()
    }

    /// Runs until ``stop()`` is called, and then releases the due operations one last time.
    func run() {
        var retryAt: ContinuousClock.Instant?
        var lastFlush = ContinuousClock.now
        var waiting: Set<HeldOperation> = []  // operations whose manifest could not be written; each is logged once
        while !stopped.isSet {
            let due = retryAt ?? worker.read { $0.nextReport(after: Self.patience) }
            coordination.reportSignal.wait(timeout: due.map { max(.milliseconds(1), $0 - .now) } ?? .seconds(3))
            if let time = retryAt, .now < time, !worker.read({ $0.isStopping }) { continue }
            retryAt = nil
            guard coordination.isConnected.withLock({ $0 }) else {
                retryAt = .now + .seconds(1)
                continue
            }
            worker.waitForLeases()
            waiting.formIntersection(worker.read { $0.held })
            let isFlush = .now - lastFlush >= .seconds(3)
            if isFlush { lastFlush = .now }
            let reports = worker.read { $0.reports(.now, olderThan: isFlush ? .zero : Self.patience) }
            // Sending at most 100 operations at a time keeps the pipelines and the manifest texts small.
            for start in stride(from: 0, to: reports.count, by: 100)
            where !send(Array(reports[start..<min(start + 100, reports.count)]), &waiting) {
                retryAt = .now + .seconds(1)
            }
            if !release() { retryAt = .now + .seconds(1) }
        }
        _ = release()
    }

    /// Sends reports. For cancelled batches, only writes the manifests; the caller releases the operations afterwards.
    /// - Returns: false if some of the reports must be sent again later.
    private func send(_ reports: [WorkerState.Report], _ waiting: inout Set<HeldOperation>) -> Bool {
        var files = worker.writeFiles(of: reports)
        for report in reports where report.isCancelled {
            // The manifest of a cancelled batch is not written again after a failure, for example on a full disk, so
            // this manifest may lack lines.
            files.failures[report.held] = nil
            observeCancelled(report.finished.count)
            worker.handle(.reported(report, now: .now))
        }
        let ready = reports.filter {
            files.failures[$0.held] == nil && !$0.isCancelled && !files.lost.contains($0.held)
        }
        for (held, why) in files.failures where waiting.insert(held).inserted {
            coordination.logger.error(
                "operation not reported yet, its files or its manifest cannot be written; trying again",
                key: held.batch.description, LogMetadata(held).adding(["detail": .text(why)]))
        }
        let calls = ready.map { report in
            coordination.store.report(
                report.held, worker: coordination.id, stateCodes: report.stateCodes,
                lostGainMaps: report.lostGainMaps, bytesIn: report.bytesIn, bytesOut: report.bytesOut,
                failures: report.failures)
        }
        var isComplete = files.failures.isEmpty
        let highest = worker.read { $0.controlsVersion }
        let began = ContinuousClock.now
        let results = coordination.store.results(of: calls)
        let ended = ContinuousClock.now
        if results.contains(where: { (try? $0.get()) != nil }) {  // the errors are handled below
            coordination.observer?(.reportsAnswered(ended - began))
        }
        for (report, result) in zip(ready, results) {
            waiting.remove(report.held)
            do throws(StoreError) {
                let reply = try result.get()
                observe(reply, to: report, began, ended)
                apply(reply, to: report, highest)
            } catch {
                coordination.redisFailed(error)  // Redis counts a repeated report only once
                isComplete = false
            }
        }
        return isComplete
    }

    /// Tells the observer which results of photos Redis has accepted, and how many photos were cancelled.
    private func observe(
        _ reply: ReportReply, to report: WorkerState.Report, _ began: ContinuousClock.Instant,
        _ ended: ContinuousClock.Instant
    ) {
        guard let observer = coordination.observer, !report.finished.isEmpty else { return }
        let stored: [UInt8]?
        switch reply {
        case .accepted(_, let stateCodes, _): stored = stateCodes ?? report.stateCodes
        case .ended(let stateCodes): stored = stateCodes
        case .cancelled: return observeCancelled(report.finished.count)
        case .gone, .lost: return
        }
        // If a photo became final in Redis before this report, Redis keeps the earlier state code of the photo.
        func code(of photo: FinishedPhoto) -> UInt8? {
            stored.map { $0.dropFirst(photo.position).first } ?? photo.state.stateCode
        }
        let photos = report.finished.filter { code(of: $0) == $0.state.stateCode }
        observeCancelled(report.finished.count { code(of: $0) == PhotoState.cancelled.stateCode })
        observer(
            .accepted(
                AcceptedPhotos(
                    operation: report.held, photos: photos, claimed: report.claimed, reportBegan: began,
                    reportEnded: ended)))
    }

    private func observeCancelled(_ photos: Int) {
        if photos > 0 { coordination.observer?(.cancelled(photos: photos)) }
    }

    private func apply(_ reply: ReportReply, to report: WorkerState.Report, _ highest: Int) {
        switch reply {
        case .accepted(let ended, let stateCodes, let version):
            if version != highest { worker.handle(.answered([ControlsAnswer(version: version, sent: highest)])) }
            guard !ended else { return end(report.held, report) }
            worker.handle(.reported(report, now: .now))
            if let stateCodes { worker.handle(.stateCodes(stateCodes, of: report.held)) }
        case .cancelled:
            // The worker learns from this reply that the batch is cancelled, before it receives the change notice.
            worker.handle(.reported(report, now: .now))
            worker.handle(.batchCancelled(report.held.batch))
        case .ended: end(report.held, report)
        case .gone, .lost:
            if case .lost = reply { coordination.observer?(.leaseLost) }
            coordination.logger.warning(
                "report refused, this worker no longer holds the operation", key: report.held.batch.description,
                LogMetadata(report.held).adding(["fencingToken": .number(report.held.fencingToken)]))
            _ = worker.effects(of: .lost([report.held]))  // the loss is logged above
        }
    }

    /// Handles the end of an operation, and removes the manifest files of other workers.
    private func end(_ held: HeldOperation, _ report: WorkerState.Report) {
        let files = worker.files(of: held)
        worker.ended(held)
        if report.hasPast, let files { worker.removeOtherManifests(files) }
    }

    /// Releases the operations whose release is due. After ``Coordination/leaving`` is set, releases nothing: a worker
    /// that leaves at once aborts its photos, which would make their operations due.
    /// - Returns: false if a release must be tried again later.
    private func release() -> Bool {
        guard !coordination.leaving.isSet else { return true }
        let effects = worker.effects(of: .releasesDue(now: .now))
        let releases = effects.compactMap { if case .release(let release) = $0 { release } else { nil } }
        let now = ContinuousClock.now
        if let shared = releases.compactMap(\.shared).max() {
            coordination.plan.withLock { $0.hold(back: shared, until: now + Self.shareTime) }
        }
        let delays = releases.map { release in
            release.due.map { max(.zero, $0 - now) * Double.random(in: 1...Self.longestSpread) } ?? .zero
        }
        let calls = zip(releases, delays).map { release, delay in
            coordination.store.release(
                release.held, worker: coordination.id,
                isRefused: coordination.refusals.withLock { $0.contains(release.held.batch) }, after: delay,
                retries: release.retries)
        }
        var isComplete = true
        let results = coordination.store.results(of: calls)
        for ((release, delay), result) in zip(zip(releases, delays), results) {
            switch result {
            // The release is tried again. If the worker stops before a release succeeds, the lease expires.
            case .failure: isComplete = false
            case .success(let reply):
                let files = worker.files(of: release.held)
                // Whatever the reply is, this worker no longer holds the operation.
                worker.handle(.released(release.held))
                if case .queued = reply, delay > .zero { worker.noteDeferral(release, until: now + delay) }
                guard case .cancelled = reply, let files else { continue }
                if release.hasPast { worker.removeOtherManifests(files) }
                worker.noteEnd(of: [release.held.batch])
            }
        }
        return isComplete
    }
}
