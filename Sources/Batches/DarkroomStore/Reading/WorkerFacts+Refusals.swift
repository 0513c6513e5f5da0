import DarkroomModel

/// The fact `refused`: the batches that a worker refuses, as `<batch>: <refusal>; <batch>: <refusal>` with the text of each
/// ``Refusal``. The batches are sorted, and their ids contain the time of submission.
///
/// A reason may contain semicolons. It may also contain a path that the submitter of the batch has chosen, and that looks
/// like the entry of another batch.
extension WorkerFacts {
    /// The maximum length of the fact, in characters. A longer text is truncated.
    package static let mostRefusedText = 4000

    /// The reason why the worker refuses a batch; nil if no refusal is known.
    package func refusal(of batch: BatchID) -> Refusal? {
        refusals[batch] ?? (refusedToo.contains(batch) ? Self.unknownRefusal : nil)
    }

    /// The refused batches with the reasons, as text for users.
    package var refusedText: String {
        refusals.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.reason)" }.joined(separator: "; ")
    }

    private static let unknownRefusal = Refusal(
        .other, "its reason is not known, because it refuses too many batches")

    /// The text of the fact. In a reason, the semicolon before a text that looks like an entry becomes a comma.
    package static func text(of refusals: [BatchID: Refusal]) -> String {
        var text = String.UnicodeScalarView()
        for (batch, refusal) in refusals.sorted(by: { $0.key < $1.key }) {
            var entry = "\(batch): "
            for (position, part) in parts(of: refusal.text).enumerated() {
                if position > 0 { entry += followingEntry(part) == nil ? ";" : "," }
                entry += String(Substring(part))
            }
            text.append(contentsOf: "\(text.isEmpty ? "" : "; ")\(entry)".unicodeScalars)
            if text.count >= mostRefusedText { break }
        }
        return String(String.UnicodeScalarView(text.prefix(mostRefusedText)))
    }

    /// Parses the text of the fact. If the text contains several entries of a batch, the first entry counts.
    static func refusals(in text: String) -> [BatchID: Refusal] {
        var found: [BatchID: String] = [:]
        var batch: BatchID?
        for part in parts(of: text) {
            let next = batch == nil ? entry(part) : followingEntry(part)
            if let (id, reason) = next, found[id] == nil {
                batch = id
                found[id] = reason
            } else if let batch {
                found[batch]?.append(";\(Substring(part))")
            }
        }
        return found.mapValues(Refusal.init(parsing:))
    }

    private static func parts(of text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    }

    /// The entry that follows a semicolon and a space; nil if `part`, the text after the semicolon, is not an entry.
    private static func followingEntry(_ part: Substring.UTF8View) -> (batch: BatchID, reason: String)? {
        part.first == UInt8(ascii: " ") ? entry(part.dropFirst()) : nil
    }

    private static func entry(_ text: Substring.UTF8View) -> (batch: BatchID, reason: String)? {
        let id = text.prefix { $0 != UInt8(ascii: ":") }
        guard let batch = BatchID(String(Substring(id))), batch.hasTimeOfSubmission else { return nil }
        return (batch, String(Substring(text.dropFirst(id.count + 2))))
    }
}
