import ArgumentParsing
import Foundation

/// Refuses a number that is too small.
func requireAtLeast(_ least: Int, _ value: Int, _ option: String) throws(ValidationError) {
    if value < least { throw ValidationError("\(option) \(value): at least \(least)") }
}

/// A path that holds in whatever folder a process works: `.` and `..` taken out, links kept.
func absolutePath(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
}

/// The absolute path of a folder that must be there.
func existingFolder(_ path: String, _ option: String) throws(CommandError) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw CommandError("\(option) \(path): no such folder; make it, or mount what belongs there")
    }
    guard isFolder.boolValue else { throw CommandError("\(option) \(path): not a folder") }
    return absolutePath(path)
}

/// Refuses a path where there is no file that can be read.
func mustBeReadable(_ file: String, _ option: String) throws(ValidationError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
        throw ValidationError("\(option) \(file): no such file")
    }
    guard !isFolder.boolValue, FileManager.default.isReadableFile(atPath: file) else {
        throw ValidationError("\(option) \(file): not a file that can be read")
    }
}

/// Reads the lines of a file for values, such as passwords, that must not appear in the process list.
func linesOfFile(_ file: String, _ option: String) throws(ValidationError) -> [String] {
    try mustBeReadable(file, option)
    // The options are read more than once, which a pipe cannot be.
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        let bytes = FileManager.default.contents(atPath: file)
    else { throw ValidationError("\(option) \(file): not a regular file that can be read; write the lines to a file") }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
}
