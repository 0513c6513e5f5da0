import Darkroom

extension BatchProblem {
    /// The problem and what helps, in one line: `batch 20261121-090501123-7f3a: it is suspended; go on with: darkroom ...`.
    func sentence(among batches: [BatchFacts]) -> String {
        let subject = batch.map { id in "batch \(batches.first { $0.id == id }?.label ?? id.description): " } ?? ""
        return subject + sentence
    }

    /// The problem and what helps, without the batch.
    var sentence: String { HumanText.safe("\(text); \(remedy)") }
}
