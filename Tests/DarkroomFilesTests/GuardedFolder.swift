import DarkroomTestSupport
import Foundation

@testable import DarkroomFiles

/// A folder `inside` for the test, and next to it a folder `outside`, which must not change.
final class GuardedFolder: Sendable {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        for name in ["inside/a/b", "outside"] { try scratch.makeFolder(name) }
        try write("outside/file", "precious")
    }

    var path: String { scratch.path }

    /// Opens the folder `inside`. The returned `Folder` resolves paths by the method `resolution`.
    func inside(_ resolution: PathResolution) throws -> Folder { try Folder(trusted: path + "/inside", resolution) }

    func write(_ name: String, _ text: String) throws { try scratch.write(name, text) }

    /// Creates a symbolic link in `inside`.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/inside/" + name, withDestinationPath: target)
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The sorted paths of all files in a folder and its subfolders.
    func contents(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path + "/" + name).sorted()
    }
}

/// The `errno` of the failure that `body` throws; 0 if it throws nothing.
func failure(_ body: () throws(SystemFailure) -> Void) -> Int32 {
    do throws(SystemFailure) {
        try body()
        return 0
    } catch {
        return error.error
    }
}
