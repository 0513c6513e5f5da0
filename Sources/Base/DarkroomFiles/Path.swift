import Glibc

/// Functions that read a path in the same way as the system: as bytes.
///
/// A slash followed by a combining character is one `Character`, which `split` and `hasPrefix` do not treat as "/",
/// although the system does. All code that splits or checks an untrusted path must use these functions.
package enum Path {
    /// The components of a path, excluding empty components and `.`. No component contains a slash.
    package static func components(of path: String) -> [String] {
        path.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }.filter {
            !$0.utf8.elementsEqual(here)
        }
    }

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Whether a component of the path is `..`.
    package static func climbs(_ path: String) -> Bool {
        path.utf8.split(separator: slash).contains { $0.elementsEqual(above) }
    }

    /// Splits a path at its last slash.
    /// - Returns: the part before the slash, and the part after the slash. If the path has no slash, the first part is
    ///   nil and the second part is the path.
    package static func split(_ path: String) -> (folder: String?, name: String) {
        guard let last = path.utf8.lastIndex(of: slash) else { return (nil, path) }
        return (
            String(decoding: path.utf8[..<last], as: UTF8.self),
            String(decoding: path.utf8[path.utf8.index(after: last)...], as: UTF8.self)
        )
    }

    /// The path of `name` in a folder. If `folder` is "", the result is `name`.
    package static func joined(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : folder.utf8.last == slash ? folder + name : folder + "/" + name
    }

    /// The absolute path without symbolic links, see realpath(3). Returns nil and sets `errno` on failure. Blocks.
    package static func real(_ path: String) -> String? { realBytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// Like ``real(_:)``, but for paths that need not be valid UTF-8.
    package static func realBytes(_ path: String) -> [UInt8]? { realBytes(Array(path.utf8)) }

    /// Like ``real(_:)``, but for paths that need not be valid UTF-8.
    package static func realBytes(_ path: [UInt8]) -> [UInt8]? {
        guard let real = withCString(path, { realpath($0, nil) }) else { return nil }
        defer { free(real) }
        return Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
    }

    /// Calls `body` with the path as a C string. The system ends a path at its first NUL.
    static func withCString<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (path + [0]).withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress!) }  // not empty
    }

    static let slash = UInt8(ascii: "/")
    private static let here = ".".utf8
    private static let above = "..".utf8
}
