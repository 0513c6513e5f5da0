import Darkroom
import Foundation

/// A run as other commands name it: by its output folder.
struct RunReference {
    /// The batch of the run.
    let batch: String
    /// The private Redis of the run; nil where the run uses a shared one.
    let redis: RedisConfiguration?

    /// The run of a folder; nil when none was begun there, or when it has ended and `name` may be the name of a batch.
    /// - Parameter name: what a user gave. Text with a slash is a path.
    /// - Throws: ``CommandError`` when the folder is a run's, and the run does not work at the moment.
    init?(_ name: String) throws {
        let folder = absolutePath(name) + "/.darkroom"
        var facts = stat()
        // What somebody else wrote there would lead to a Redis of theirs.
        guard !name.isEmpty, lstat(folder, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid(),
            let data = FileManager.default.contents(atPath: folder + "/identity.json"),
            let state = try? JSONDecoder().decode(RunState.self, from: data)
        else { return nil }
        batch = state.batch
        guard state.identity.redis == "private" else {
            redis = nil
            return
        }
        guard let url = try? String(contentsOfFile: folder + "/redis.url", encoding: .utf8) else {
            guard name.contains("/") else { return nil }
            throw CommandError(
                "folder \(name): no run works on it at the moment; what became of its photos: darkroom manifest \(name)"
            )
        }
        redis = try RedisConfiguration(url: url.trimmingCharacters(in: .newlines), password: nil)
    }
}
