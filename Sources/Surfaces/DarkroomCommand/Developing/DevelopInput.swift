import Darkroom
import DarkroomFiles
import DarkroomLists
import DarkroomText
import Foundation

/// A photo that `develop` writes to a folder.
struct DevelopInput {
    /// The path for messages.
    let path: String
    /// The exact path of a photo that was found in a folder; this path need not be UTF-8. Nil if ``path`` is exact.
    var bytes: [UInt8]?
    /// The path of the written file relative to the output folder, before its extension is changed.
    let name: String
    /// The reason why the photo is not read; nil if `develop` tries to read it.
    var problem: CommandError?

    /// The photos of the arguments, in order. An argument that is a folder stands for the photos in it, in the order of
    /// the folder as a photo list. The names of these photos are relative to the folder.
    /// - Parameters:
    ///   - options: The options for reading folders.
    ///   - remark: Called with remarks about files and subfolders that were skipped.
    static func photos(
        of arguments: [String], _ options: ListOptions, remark: @escaping @Sendable (String) -> Void
    ) -> [DevelopInput] {
        arguments.flatMap { argument -> [DevelopInput] in
            guard let folder = Path.real(argument), isFolder(folder) else {
                return [DevelopInput(path: argument, name: Path.split(argument).name)]
            }
            do throws(PhotoListError) {
                return try photos(inFolder: argument, real: folder, options, remark)
            } catch {
                let problem = CommandError(
                    "read the folder \(argument): " + RemedyWording.commands.sentence(error.message, error.remedies))
                return [DevelopInput(path: argument, name: "", problem: problem)]
            }
        }
    }

    private static func photos(
        inFolder argument: String, real folder: String, _ options: ListOptions,
        _ remark: @escaping @Sendable (String) -> Void
    ) throws(PhotoListError) -> [DevelopInput] {
        var photos: [(name: String, path: [UInt8])] = []
        let list = try PhotoListReader(argument, options) { remark(RemedyWording.commands.text($0)) }
        while try list.next({ photo in
            photos.append((String(decoding: photo.name, as: UTF8.self), PhotoURL.path(ofFile: photo.url)))
        }) {}
        return photos.map { name, bytes in
            let path = Path.joined(argument, name)
            // A link in a folder of somebody else could lead to any file of this user.
            // If the photo has vanished, reading it fails.
            let isBelow = Path.realBytes(bytes).map { $0.starts(with: Path.joined(folder, "").utf8) } ?? true
            let problem = CommandError("read the photo \(path): it is a link that leads out of the folder \(argument)")
            return DevelopInput(path: path, bytes: bytes, name: name, problem: isBelow ? nil : problem)
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
