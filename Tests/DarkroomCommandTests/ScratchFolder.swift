import Foundation

/// A folder of one test, which goes with it.
final class ScratchFolder: Sendable {
    private let folder = NSTemporaryDirectory() + "darkroom-scratch-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A path in it.
    func path(_ name: String) -> String { folder + "/" + name }

    /// Whether there is something.
    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// What there is, the hidden left out, in order.
    func contents(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(name)).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Writes a file and returns its path.
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    /// Writes a file and returns its path.
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}
