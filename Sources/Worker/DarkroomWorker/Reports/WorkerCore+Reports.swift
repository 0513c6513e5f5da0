import DarkroomModel
import DarkroomStorage
import DarkroomWorkerState

/// Writes the files that must be on the disk before operations are reported.
extension WorkerCore {
    func writeFiles(of reports: [WorkerState.Report]) -> (failures: [HeldOperation: String], lost: Set<HeldOperation>) {
        // While this call hangs, the worker cannot report anything.
        fileCalls.run(for: nil) {
            var failures: [HeldOperation: String] = [:]
            var given: Set<HeldOperation> = []
            for report in reports {
                guard let files = files(of: report.held) else {
                    given.insert(report.held)  // already dropped, for example with an earlier report
                    continue
                }
                do throws(StorageFault) {
                    try files.sink.write(report.lines)
                } catch {
                    if report.isCancelled || blocks(error, report.held.batch) {
                        failures[report.held] = error.detail
                    } else {
                        // The fault concerns this file alone. The next claim writes a file with another name.
                        giveUp([report.held], error, of: report.held.batch)
                        given.insert(report.held)
                    }
                }
            }
            let written = reports.filter { failures[$0.held] == nil && !given.contains($0.held) }
            return (failures, given.union(makeDurable(written)))
        }
    }

    /// Makes the results of the reports durable with one call for each domain: one `syncfs` for a file system is several
    /// times faster than an `fsync` for each file and folder. If files may be lost, the worker gives up all unreported
    /// operations with files in that domain, and their photos run again.
    /// - Returns: the operations that were given up.
    private func makeDurable(_ reports: [WorkerState.Report]) -> Set<HeldOperation> {
        var given: Set<HeldOperation> = []
        var oldest: [StorageDomain: (barrier: StorageBarrier, batch: BatchID)] = [:]
        for report in reports where report.lines.contains(where: { $0 != nil }) {
            guard let sink = files(of: report.held)?.sink, !given.contains(report.held) else { continue }
            if let loss = sink.loss() {
                let lost = operations { $0.storage === sink.storage }
                giveUp(lost, loss, of: report.held.batch)
                given.formUnion(lost)
                continue
            }
            for barrier in sink.barriers
            where oldest[barrier.domain].map({ barrier.opened < $0.barrier.opened }) ?? true {
                oldest[barrier.domain] = (barrier, report.held.batch)
            }
        }
        guard configuration.isDurable else { return given }
        for (domain, (barrier, batch)) in oldest {
            do throws(StorageFault) {
                try barrier.makeDurable()
            } catch {
                let lost = operations { $0.barriers.contains { $0.domain == domain } }
                giveUp(lost, error, of: batch)
                given.formUnion(lost)
            }
        }
        return given
    }

    /// The local operations whose sinks meet a condition.
    private func operations(_ condition: (any OperationSink) -> Bool) -> [HeldOperation] {
        files.withLock { $0 }.filter { condition($0.value.sink) }.map(\.key)
    }
}
