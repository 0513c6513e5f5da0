import DarkroomTestSupport
import Foundation

@testable import DarkroomFiles

/// A folder `inside` that a test works in, and beside it `outside`, where nothing may change.
final class GuardedFolder: Sendable {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        for name in ["inside/a/b", "outside"] { try scratch.makeFolder(name) }
        try write("outside/file", "precious")
    }

    var path: String { scratch.path }

    /// The folder `inside`, with paths looked up in a way.
    func inside(_ resolution: PathResolution) throws -> Folder { try Folder(trusted: path + "/inside", resolution) }

    func write(_ name: String, _ text: String) throws { try scratch.write(name, text) }

    /// Puts a symbolic link in `inside` that leads to `outside`.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/inside/" + name, withDestinationPath: target)
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What is below a folder, in order.
    func contents(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path + "/" + name).sorted()
    }
}

/// The system's number of the failure that `body` throws; 0 when it throws none.
func failure(_ body: () throws(SystemFailure) -> Void) -> Int32 {
    do throws(SystemFailure) {
        try body()
        return 0
    } catch {
        return error.error
    }
}
