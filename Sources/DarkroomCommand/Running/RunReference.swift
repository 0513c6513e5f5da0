import Darkroom
import DarkroomFiles
import DarkroomRedis
import DarkroomText
import Foundation

/// A run as other commands name it: by its output folder.
struct RunReference {
    /// The batch of the run.
    let batch: String
    /// The private Redis of the run; nil where the run uses a shared one.
    let redis: RedisConfiguration?

    /// The run of a folder; nil when none was begun there.
    /// - Parameter name: what a user gave.
    /// - Throws: ``CommandError`` when the folder is a run's, and the run does not work at the moment.
    init?(_ name: String) throws {
        // Another user's state could name a Redis of that user. An unreadable state counts as no run: `name` may then be a batch.
        guard !name.isEmpty, let folder = RunFolder.existing(inOutput: absolutePath(name)),
            let state = try? RunFolder.noted(in: folder)
        else { return nil }
        batch = state.batch.description
        guard state.identity.redis == "private" else {
            redis = nil
            return
        }
        guard let url = PrivateRedis.url(in: folder) else {
            throw CommandError(
                "folder \(name): no run works on it at the moment; what became of its photos: darkroom manifest \(ShellWord.quoted(name))"
            )
        }
        redis = try RedisConfiguration(url: url, password: nil)
    }
}
