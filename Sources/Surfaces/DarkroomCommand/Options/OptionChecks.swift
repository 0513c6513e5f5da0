import ArgumentParsing
import Darkroom
import DarkroomStorage
import DarkroomText
import Foundation

/// Throws if `value` is less than `least`.
func requireAtLeast(_ least: Int, _ value: Int, _ option: String) throws(ValidationError) {
    if value < least { throw ValidationError("\(option) \(value): at least \(least)") }
}

/// Throws if `value` is out of bounds.
/// - Parameter text: Converts a value to the text in the message.
func require<Value: Comparable>(
    _ bounds: ClosedRange<Value>, _ value: Value, _ option: String, text: (Value) -> String = { "\($0)" }
) throws(ValidationError) {
    if bounds.contains(value) { return }
    let bound = value < bounds.lowerBound ? "at least \(text(bounds.lowerBound))" : "at most \(text(bounds.upperBound))"
    throw ValidationError("\(option) \(text(value)): \(bound)")
}

func require(_ bounds: ClosedRange<Int>, _ size: ByteSize, _ option: String) throws(ValidationError) {
    try require(bounds, size.bytes, option) { ByteSize(bytes: $0).argumentText }
}

/// The canonical location of a place, or of a container of places. The path of a folder becomes absolute.
func place(_ text: String, _ option: String) throws(ValidationError) -> String {
    do throws(StorageError) {
        return try StorageSchemes.location(text, absolute: absolutePath)
    } catch {
        throw ValidationError("\(option) \(text): \(error.problem)")
    }
}

/// The canonical location of a container of places, such as a folder. Throws if this folder does not exist.
func existingPlace(_ text: String, _ option: String) throws -> String {
    StorageSchemes.isPath(text) ? try existingFolder(text, option) : try place(text, option)
}

/// The absolute path of a folder. Throws if the folder does not exist.
func existingFolder(_ path: String, _ option: String) throws(CommandError) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw CommandError("\(option) \(path): no such folder; create it, or mount its file system")
    }
    guard isFolder.boolValue else { throw CommandError("\(option) \(path): not a folder") }
    return absolutePath(path)
}

/// Throws unless the path names a readable file.
func mustBeReadable(_ file: String, _ option: String) throws(ValidationError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
        throw ValidationError("\(option) \(file): no such file")
    }
    guard !isFolder.boolValue, FileManager.default.isReadableFile(atPath: file) else {
        throw ValidationError("\(option) \(file): not a file that can be read")
    }
}

/// Reads the lines of a file. Such files contain values that must not appear in the process list, such as passwords.
func linesOfFile(_ file: String, _ option: String) throws(ValidationError) -> [String] {
    try mustBeReadable(file, option)
    // The file must not be a pipe: the options are read more than once, but a pipe can be read only once.
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        let bytes = FileManager.default.contents(atPath: file)
    else { throw ValidationError("\(option) \(file): not a regular file that can be read; write the lines to a file") }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
}
