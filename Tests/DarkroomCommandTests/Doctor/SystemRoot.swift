import DarkroomTestSupport
import Foundation

@testable import DarkroomCommand

/// A folder with files as the kernel has them, which goes with it.
final class SystemRoot {
    private let folder: ScratchFolder
    /// What reads them.
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
