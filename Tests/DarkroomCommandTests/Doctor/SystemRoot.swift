import DarkroomTestSupport
import Foundation

@testable import DarkroomCommand

/// A temporary folder with files in the format of the kernel. It is deleted with this object.
final class SystemRoot {
    private let folder: ScratchFolder
    /// Reads the files of the folder.
    let files: SystemFiles

    init(_ texts: [String: String]) throws {
        folder = try ScratchFolder()
        files = SystemFiles(root: folder.path(""))
        for (path, text) in texts {
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            try FileManager.default.createDirectory(
                atPath: folder.path(parent), withIntermediateDirectories: true)
            _ = try folder.write(path, text)
        }
    }
}
