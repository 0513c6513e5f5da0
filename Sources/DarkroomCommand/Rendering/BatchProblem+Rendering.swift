import Darkroom
import DarkroomText
import Foundation

extension BatchProblem {
    /// The problem with a remedy that names its batch by the output folder of its run: the private Redis of a run is found from
    /// that folder only. Unchanged where the batch is not such a run's.
    func naming(_ run: (batch: String, folder: String)?) -> BatchProblem {
        guard let run else { return self }
        return BatchProblem(
            code, of: batch, text: text,
            remedy: remedy.replacingOccurrences(of: run.batch, with: ShellWord.quoted(run.folder)))
    }
}
