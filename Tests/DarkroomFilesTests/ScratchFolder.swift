import Foundation

@testable import DarkroomFiles

/// A folder `inside` that a test works in, and beside it `outside`, where nothing may change.
final class ScratchFolder: Sendable {
    let path = NSTemporaryDirectory() + "darkroom-files-\(UUID().uuidString)"

    init() throws {
        for name in ["inside/a/b", "outside"] {
            try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
        }
        try write("outside/file", "precious")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The folder `inside`, with paths looked up in a way.
    func inside(_ resolution: PathResolution) throws -> Folder { try Folder(trusted: path + "/inside", resolution) }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

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
