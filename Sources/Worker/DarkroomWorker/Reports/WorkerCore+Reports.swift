import DarkroomFiles
import DarkroomModel
import DarkroomOutput
import DarkroomStore
import DarkroomText
import DarkroomWorkerState
import Foundation

/// Writes the files that must be on the disk before operations are reported.
extension WorkerCore {
    func writeFiles(of reports: [WorkerState.Report]) -> (failures: [HeldOperation: String], lost: Set<HeldOperation>) {
        // While this call hangs, the worker cannot report anything.
        fileCalls.run(for: nil) {
            var failures: [HeldOperation: String] = [:]
            var given: Set<HeldOperation> = []
            for report in reports {
                guard let context = files(of: report.held)?.context else {
                    given.insert(report.held)  // dropped in the meantime, for example with an earlier report
                    continue
                }
                do throws(OutputWriter.Failure) {
                    try ManifestFiles.write(report.lines, of: report.held, context.output, worker: coordination.id)
                } catch {
                    if report.isCancelled || blocks(error, context) {
                        failures[report.held] = error.detail
                    } else {
                        // Only this file cannot be written. The next claim writes a file with another name.
                        giveUp([report.held], error.detail)
                        given.insert(report.held)
                    }
                }
            }
            let written = reports.filter { failures[$0.held] == nil && !given.contains($0.held) }
            return (failures, given.union(makeDurable(written)))
        }
    }

    /// Makes the files and folders of the reports durable with one `syncfs` for each file system, which is several
    /// times faster than an `fsync` for each file and folder. A write error is reported only once; the next `syncfs`
    /// succeeds although files are lost. So the worker gives up all unreported operations with files on that file
    /// system, and their photos run again.
    /// - Returns: the operations that were given up.
    private func makeDurable(_ reports: [WorkerState.Report]) -> Set<HeldOperation> {
        var given: Set<HeldOperation> = []
        var folders: [dev_t: (folder: Folder, opened: ContinuousClock.Instant, place: OutputPlace)] = [:]
        for report in reports where report.lines.contains(where: { $0 != nil }) {
            guard let files = files(of: report.held), let folder = files.folder,
                let place = files.context.output.place, !given.contains(report.held)
            else { continue }
            guard folder.isStillThere else {
                let operations = operations { $0.folder === folder }
                let fault = OutputFault(at: place)
                let why = fault?.detail ?? "something else is mounted at \(place.markerPath) than before"
                giveUp(operations, why, fault)
                given.formUnion(operations)
                continue
            }
            // An error is reported to each folder that was open when it happened. So the folder that was opened first
            // reports all errors.
            for (device, part) in folder.mounted.merging([folder.device: folder.folder], uniquingKeysWith: { $1 })
            where folders[device].map({ folder.opened < $0.opened }) ?? true {
                folders[device] = (part, folder.opened, place)
            }
        }
        guard configuration.isDurable else { return given }
        for (device, (folder, _, place)) in folders {
            let error = configuration.syncFileSystem(folder.descriptor)
            guard error != 0 else { continue }
            let why = "make \(place.folder) durable: \(systemErrorText(error))"
            let operations = operations { $0.folder?.uses(device) == true }
            let isFull = error == ENOSPC || error == EDQUOT
            let fault = OutputFault(
                isFull ? .full : .failing, place, folder: "", bytes: OutputFault.leastRoom, detail: why)
            giveUp(operations, why, fault)
            given.formUnion(operations)
        }
        return given
    }

    /// The local operations whose files meet a condition.
    private func operations(_ condition: (OperationFiles) -> Bool) -> [HeldOperation] {
        files.withLock { $0.filter { condition($0.value) }.map(\.key) }
    }
}
