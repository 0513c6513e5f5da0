/// Counts the texts that repeat an earlier text. Compares only the first texts, so that the memory is bounded.
package struct Repetitions {
    private static let mostShown = 3

    /// The number of compared texts that repeat an earlier text.
    package private(set) var count = 0
    /// The first texts that repeat an earlier text, each once.
    package private(set) var examples: [String] = []
    package private(set) var compared = 0
    private var hashes: Set<Int> = []
    private let mostHashes: Int

    /// - Parameter mostHashes: The number of different texts after which no more texts are compared. The default needs
    ///   about 100 MB.
    package init(mostHashes: Int = 4_000_000) { self.mostHashes = mostHashes }

    /// Adds the next text.
    /// - Parameters:
    ///   - hash: A hash of the text with 64 bits; the text itself is not kept.
    ///   - text: The text for ``examples``.
    mutating func add(_ hash: Int, text: () -> String) {
        guard hashes.count < mostHashes else { return }
        compared += 1
        guard !hashes.insert(hash).inserted else { return }
        count += 1
        guard examples.count < Self.mostShown else { return }
        let text = text()
        if !examples.contains(text) { examples.append(text) }
    }
}
