import Darkroom
import DarkroomText
import Foundation

extension BatchProblem {
    /// The problem with a remedy that names the batch by the output folder of its run, since commands find the private
    /// Redis of a run only by that folder. Unchanged if the batch does not belong to a run with a private Redis.
    func naming(_ run: (batch: String, folder: String)?) -> BatchProblem {
        guard let run else { return self }
        return BatchProblem(
            code, of: batch, text: text,
            remedy: remedy.replacingOccurrences(of: run.batch, with: ShellWord.quoted(run.folder)))
    }
}
