import Foundation

/// A temporary folder that is removed with this object.
package final class ScratchFolder: Sendable {
    /// The absolute path.
    package let path: String

    /// Creates the folder.
    /// - Parameter parent: Use `/tmp` for the folder of a socket, because the path of a socket has at most 107 bytes.
    package init(in parent: String = NSTemporaryDirectory()) throws {
        path = URL(fileURLWithPath: parent).appendingPathComponent("darkroom-scratch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Removes the folder without waiting for `deinit`.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The absolute path as a URL.
    package var url: URL { URL(fileURLWithPath: path) }

    /// The path of the file `name` in the folder.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Whether a file or folder of this name exists.
    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// The sorted names in a sub-folder, without hidden ones.
    package func contents(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(name)).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Writes a file.
    /// - Returns: the path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    /// Writes a file.
    /// - Returns: the path.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// Creates a folder and its parents.
    /// - Returns: the path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }
}
