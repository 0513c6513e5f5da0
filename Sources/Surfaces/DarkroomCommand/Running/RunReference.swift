import Darkroom
import DarkroomFiles
import DarkroomRedis
import DarkroomText
import Foundation

/// A run that another command has named by its output folder.
struct RunReference {
    /// The batch of the run.
    let batch: String
    /// The private Redis server of the run; nil if the run uses a shared server.
    let redis: RedisConfiguration?

    /// Finds the run of an output folder; nil if the folder has no run.
    /// - Parameter name: The batch argument of the user.
    /// - Throws: ``CommandError`` if the folder has a run whose private Redis server is not running.
    init?(_ name: String) throws {
        // A state that another user has written is not read, because it could name a Redis server of that user. An
        // unreadable state is ignored, because `name` may be the name of a batch.
        guard !name.isEmpty, let folder = RunFolder.existing(inOutput: absolutePath(name)),
            let state = try? RunFolder.noted(in: folder, ofOutput: absolutePath(name))
        else { return nil }
        batch = state.batch.description
        guard state.identity.redis == "private" else {
            redis = nil
            return
        }
        guard let url = PrivateRedis.url(in: folder) else {
            throw CommandError(
                "folder \(name): no run is using it; to list its photos: darkroom manifest \(ShellWord.quoted(name)); to run "
                    + "its failed photos again: darkroom run ... -o \(ShellWord.quoted(name)) --retry")
        }
        redis = try RedisConfiguration(url: url, password: nil)
    }
}
