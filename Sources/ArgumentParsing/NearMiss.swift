/// Guesses what a mistyped word was meant to be.
enum NearMiss {
    /// The candidate that fewest typing errors separate from the word; none if that would be a third of it or more.
    static func find(_ word: String, in candidates: [String]) -> String? {
        let scored = candidates.map { (candidate: $0, distance: distance(word.lowercased(), $0.lowercased())) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance * 3 <= max(word.count, 3) ? best.candidate : nil
    }

    /// Letters to insert, remove, replace or swap with their neighbour (optimal string alignment distance).
    private static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first)
        let b = Array(second)
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
