/// Finds likely corrections of a mistyped word.
package enum NearMiss {
    /// The candidate with the smallest edit distance to `word`; nil if this distance is larger than 1 and also larger
    /// than a third of the length of `word`.
    package static func find(_ word: String, in candidates: [String]) -> String? {
        scored(word, candidates).min { $0.distance < $1.distance }?.candidate
    }

    /// Likely corrections: the candidates that contain `word`, followed by the candidates that differ from `word` by a
    /// few typing errors, in ascending order of the edit distance.
    package static func all(_ word: String, in candidates: [String]) -> [String] {
        guard !word.isEmpty else { return [] }
        let holding = candidates.filter { $0.lowercased().contains(word.lowercased()) }
        let near = scored(word, candidates).sorted { $0.distance < $1.distance }.map(\.candidate)
        return holding + near.filter { !holding.contains($0) }
    }

    private static func scored(_ word: String, _ candidates: [String]) -> [(candidate: String, distance: Int)] {
        // The cost of the edit distance grows with the product of the lengths, so long texts are excluded.
        candidates.filter { abs($0.count - word.count) * 3 <= max(word.count, 3) && $0.count <= 200 }
            .map { (candidate: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .filter { $0.distance * 3 <= max(word.count, 3) }
    }

    /// The number of letters to insert, remove, replace or swap with a neighbour (optimal string alignment).
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
