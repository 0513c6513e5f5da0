import DarkroomModel
import DarkroomStorage

/// The facts of a worker about the photos of its batches: `running`, `waiting` and `outputs.under`. Each fact is a text
/// of bounded length, so that a heartbeat stays small; entries that do not fit are left out.
extension WorkerFacts {
    /// A batch of which no photo runs in a worker, because its downloads wait.
    package struct Wait: Sendable, Equatable {
        package let batch: BatchID
        /// The number of photos that wait.
        package let photos: Int
        /// The host for whose connections, or for whose next reply, the photos wait.
        package let host: String
        /// A batch that uses connections of the worker to this host; nil if the photos wait for their next download
        /// attempts.
        package let holder: BatchID?

        package init(batch: BatchID, photos: Int, host: String, holder: BatchID?) {
            self.batch = batch
            self.photos = photos
            self.host = host
            self.holder = holder
        }
    }

    /// The largest number of batches in the fact `waiting`.
    package static let mostWaits = 50
    private static let mostText = 4000
    /// The largest number of index ranges of a batch in the fact `running`.
    private static let mostRanges = 64

    // MARK: Writing

    /// The fact `running`: `<batch>:<indexes> <batch>:<indexes>`, for example `20261121-090501123-7f3a:0-3,9`.
    /// `Heartbeat.lua` looks for `<batch>:` in this text.
    package static func text(ofRunning batches: [(batch: BatchID, photos: [Int])]) -> String {
        joined(
            batches.filter { !$0.photos.isEmpty }.map { batch, photos in
                let ranges = PhotoRanges(photos.map { $0...$0 }).ranges.prefix(mostRanges)
                return "\(batch):\(PhotoRanges(Array(ranges)))"
            }, " ")
    }

    /// The fact `waiting`: `<batch> <photos> <host> <holder>` for each batch, separated by `;`. The holder is `-` if
    /// there is none.
    package static func text(of waits: [Wait]) -> String {
        joined(
            waits.filter { !$0.host.contains { $0 == " " || $0 == ";" } }.map { wait in
                "\(wait.batch) \(wait.photos) \(wait.host) \(wait.holder?.description ?? "-")"
            }, ";")
    }

    /// The fact `outputs.under`: the locations in which the worker may write, separated by line ends. Empty if the
    /// worker may write to every place, or if the locations cannot be written as a text of bounded length.
    package static func text(ofPlaces locations: [String]) -> String {
        let text = locations.joined(separator: "\n")
        let isReadable = text.utf8.count <= mostText && !locations.contains { $0.contains("\n") || $0.isEmpty }
        return isReadable ? text : ""
    }

    private static func joined(_ parts: [String], _ separator: String) -> String {
        var text = ""
        for part in parts where text.utf8.count + separator.utf8.count + part.utf8.count <= mostText {
            text += (text.isEmpty ? "" : separator) + part
        }
        return text
    }

    // MARK: Reading

    /// Whether the worker publishes which photos run. Workers of earlier versions do not.
    package var tellsActivity: Bool { fields["running"] != nil }

    /// The photos that the worker runs, by batch. Texts that Darkroom did not write name no photos.
    package var running: [BatchID: PhotoRanges] {
        var found: [BatchID: PhotoRanges] = [:]
        for part in (fields["running"] ?? "").split(separator: " ") {
            guard let colon = part.firstIndex(of: ":"), let batch = BatchID(String(part[..<colon])) else { continue }
            // If the list in Redis is damaged, no photo of the batch counts as running.
            found[batch] = try? PhotoRanges(parsing: String(part[part.index(after: colon)...]))
        }
        return found
    }

    /// The hosts for which photos wait in this worker.
    package var waits: [Wait] {
        (fields["waiting"] ?? "").split(separator: ";").compactMap { entry in
            let words = entry.split(separator: " ")
            guard words.count == 4, let batch = BatchID(String(words[0])), let photos = Int(words[1]),
                StoredBounds.photos.contains(photos)
            else { return nil }
            return Wait(batch: batch, photos: photos, host: String(words[2]), holder: BatchID(String(words[3])))
        }
    }

    /// All facts that decide which batches the worker refuses. Workers with the same facts refuse the same batches.
    var grounds: [String] {
        [fields["refused"] ?? "", fields["outputs.under"] ?? ""] + refusedToo.sorted().map(\.description)
    }

    /// The reason why the worker refuses a batch, or will refuse it because the worker may not write to the places of
    /// the batch. Nil if no reason is known.
    package func refusal(of batch: BatchFacts) -> Refusal? {
        if let refusal = refusal(of: batch.id) { return refusal }
        let allowed = (fields["outputs.under"] ?? "").split(separator: "\n").map(String.init)
        guard !allowed.isEmpty else { return nil }
        for (what, location) in [("output", batch.options.output), ("folder of originals", batch.options.originals)]
        where !location.isEmpty && !allowed.contains(where: StorageSchemes.place(location).isIn) {
            return Refusal(
                .outputNotAllowed, "its \(what) \(location) is not in a folder to which this worker may write")
        }
        return nil
    }
}
