import DarkroomModel

/// The lines that claims have stored, as text: one JSON object a line. All storages use this form.
package enum ManifestText {
    /// Merges the lines of an operation for readers.
    ///
    /// An operation has the lines of each claim during which photos became final. The worker that ends the operation
    /// removes the lines of earlier claims. Usually, the claim with the highest fencing token has stored all lines. But if
    /// Redis loses its latest changes, the last claim of an operation may have a lower fencing token than an earlier claim.
    /// Therefore, for each photo, the line with the highest fencing token is used. Damaged lines with lower fencing tokens
    /// are skipped, because a power failure may damage lines before their photos are reported to Redis. Lines of other
    /// batches are skipped, because no worker stored them here.
    /// - Parameters:
    ///   - tokens: the fencing tokens of the claims.
    ///   - stored: reads the lines of a claim, and returns them with the name of the text in messages; nil if they were
    ///     removed.
    /// - Returns: the lines, sorted by photo index; nil if the lines of a claim were removed.
    package static func merged(
        _ tokens: [Int], of batch: BatchID,
        _ stored: (_ fencingToken: Int) throws(ManifestError) -> (text: [UInt8], name: String)?
    ) throws(ManifestError) -> [ManifestLine]? {
        let highest = tokens.max()
        var byIndex: [Int: ManifestLine] = [:]
        for token in tokens.sorted(by: >) {
            guard let (text, name) = try stored(token) else { return nil }
            var damage: ManifestError?
            forEachLine(of: text) { number, line, bytes in
                guard let line else {
                    if token == highest { damage = error(name, number, bytes) }
                    return damage == nil
                }
                if line.batch == batch, byIndex[line.index] == nil { byIndex[line.index] = line }
                return true
            }
            if let damage { throw damage }
        }
        return byIndex.values.sorted { $0.index < $1.index }
    }

    /// Calls `body` with the lines that are not damaged.
    static func forEachSoundLine(of text: [UInt8], _ body: (ManifestLine) -> Void) {
        forEachLine(of: text) { _, line, _ in
            if let line { body(line) }
            return true
        }
    }

    /// Calls `body` with the number and the bytes of each line that is not empty, until `body` returns false. The line is
    /// nil if it is damaged.
    ///
    /// Takes one line at a time, because an array of all lines can be large if an untrusted user has written the text.
    private static func forEachLine(of text: [UInt8], _ body: (Int, ManifestLine?, ArraySlice<UInt8>) -> Bool) {
        let decoder = UntrustedJSON()
        var rest = text[...]
        var number = 0
        while !rest.isEmpty {
            let bytes = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(bytes.count + 1)
            guard !bytes.isEmpty else { continue }
            number += 1
            // The caller decides what a line that cannot be decoded means.
            guard body(number, try? decoder.decode(ManifestLine.self, from: bytes), bytes) else { return }
        }
    }

    private static func error(_ name: String, _ number: Int, _ line: ArraySlice<UInt8>) -> ManifestError {
        ManifestError(
            .damaged,
            "\(name), line \(number): not a manifest line (found \"\(String(decoding: line.prefix(60), as: UTF8.self))\"); "
                + "Darkroom replaces these files atomically, so another program has changed it; remove the line to read the rest"
        )
    }
}
