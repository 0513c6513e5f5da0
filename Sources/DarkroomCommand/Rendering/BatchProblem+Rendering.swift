import Darkroom
import DarkroomText
import Foundation

extension BatchProblem {
    /// The problem and what helps, in one line: `batch 20261121-090501123-7f3a: it is suspended; go on with: darkroom ...`.
    func sentence(among batches: [BatchFacts]) -> String {
        let subject = batch.map { id in "batch \(batches.first { $0.id == id }?.label ?? id.description): " } ?? ""
        return subject + sentence
    }

    /// The problem with a remedy that names its batch by the output folder of its run: the private Redis of a run is found from
    /// that folder only. Unchanged where the batch is not such a run's.
    func naming(_ run: (batch: String, folder: String)?) -> BatchProblem {
        guard let run else { return self }
        return BatchProblem(
            code, of: batch, text: text,
            remedy: remedy.replacingOccurrences(of: run.batch, with: ShellWord.quoted(run.folder)))
    }

    /// The problem and what helps, without the batch.
    var sentence: String { HumanText.safe("\(text); \(remedy)") }
}
