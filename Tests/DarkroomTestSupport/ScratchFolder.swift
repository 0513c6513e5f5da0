import Foundation

/// A temporary folder, which is removed with this object.
package final class ScratchFolder: Sendable {
    /// Its absolute path.
    package let path: String

    /// Makes the folder.
    /// - Parameter parent: `/tmp` for the folder of a socket, whose path may have 107 bytes.
    package init(in parent: String = NSTemporaryDirectory()) throws {
        path = URL(fileURLWithPath: parent).appendingPathComponent("darkroom-scratch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Removes the folder before this object goes.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Its absolute path as a URL.
    package var url: URL { URL(fileURLWithPath: path) }

    /// The path of a name in it.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Whether there is a file or folder of this name.
    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// The names in a folder in it, without hidden ones, sorted.
    package func contents(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(name)).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Writes a file.
    /// - Returns: its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    /// Writes a file.
    /// - Returns: its path.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// Makes a folder, and those above it.
    /// - Returns: its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }
}
