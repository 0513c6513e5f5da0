import DarkroomCoding
import DarkroomImaging
import DarkroomModel
import DarkroomStore
import Foundation

/// The manifest files of the operations that this worker holds.
enum ManifestFiles {
    /// Writes the lines of an operation's final photos as the file of its fence, whole.
    static func write(_ report: WorkerLedger.Report, worker: String) throws(OutputWriter.Failure) {
        guard let folder = report.context.manifestFolder, let output = report.context.output else { return }
        let text = Array(report.lines.compactMap { $0 }.joined())
        guard !text.isEmpty else { return }
        let number = report.held.number
        let name = ManifestPath.fileName(operation: number, fence: report.held.fence)
        // Only a folder that shows `manifest/<batch>` is written to: it is never made here.
        guard access(folder, F_OK) == 0 else {
            throw OutputWriter.Failure(reason: .outputDenied, detail: "\(folder) is gone; is \(output) mounted?")
        }
        try OutputWriter.write(
            text, to: ManifestPath.subfolder(operation: number) + name, in: folder,
            temporaryName: Leftovers.temporaryName(
                for: Leftovers.manifestName(operation: number), fence: report.held.fence, worker: worker))
    }

    /// The lines of photos that were final when an operation was claimed, by position: those of the file with the highest
    /// lower fence, and made from letter and file where none is found.
    static func takeOver(_ claimed: ClaimedOperation, _ records: [PhotoRecord], _ context: BatchContext) -> [[UInt8]?] {
        var lines = [[UInt8]?](repeating: nil, count: records.count)
        let states = claimed.letters.map { PhotoRecordState(letter: $0) ?? .new }
        guard let output = context.output, states.contains(where: \.isFinal) else { return lines }
        for line in latestLines(claimed.held, context) {
            let position = line.index - records[0].index
            guard records.indices.contains(position), states[position].isFinal, line.state == states[position].word
            else { continue }
            lines[position] = context.text(of: line)
        }
        for (position, state) in states.enumerated() where state.isFinal && lines[position] == nil {
            lines[position] = context.text(of: remade(records[position], state, context, output))
        }
        return lines
    }

    /// Removes the files of an operation with lower fences, when the file of its own fence is there.
    static func removeOlder(_ held: HeldOperation, _ context: BatchContext) {
        guard let folder = folder(held, context) else { return }
        let fences = fences(held.number, in: folder)
        guard fences.contains(held.fence) else { return }
        for fence in fences where fence < held.fence {
            unlink(folder + ManifestPath.fileName(operation: held.number, fence: fence))
        }
    }

    private static func folder(_ held: HeldOperation, _ context: BatchContext) -> String? {
        context.manifestFolder.map { $0 + "/" + ManifestPath.subfolder(operation: held.number) }
    }

    private static func fences(_ number: Int, in folder: String) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // no folder: no files
        return names.compactMap(ManifestPath.parse(fileName:)).filter { $0.operation == number }.map(\.fence)
    }

    private static func latestLines(_ held: HeldOperation, _ context: BatchContext) -> [ManifestLine] {
        guard let folder = folder(held, context),
            let fence = fences(held.number, in: folder).filter({ $0 < held.fence }).max(),
            let text = FileManager.default.contents(
                atPath: folder + ManifestPath.fileName(operation: held.number, fence: fence))
        else { return [] }
        let decoder = JSONDecoder()
        // A line that cannot be read is made again from letter and file.
        return text.split(separator: 10).compactMap { try? decoder.decode(ManifestLine.self, from: $0) }
    }

    /// A line from what the letter and the file say.
    private static func remade(
        _ record: PhotoRecord, _ state: PhotoRecordState, _ context: BatchContext, _ output: String
    ) -> ManifestLine {
        var line = ManifestLine(batch: context.id, record: record, state: state)
        guard state == .filtered else { return line }
        for ending in context.endings(of: record) {
            let path = context.path(of: record, ending: ending)
            guard let file = FileManager.default.contents(atPath: output + "/" + path) else { continue }
            line.file = path
            line.bytes = file.count
            line.sha256 = Hexadecimal.text(file.withUnsafeBytes { SHA256Digest.hash(of: $0) })
            break
        }
        return line
    }
}
