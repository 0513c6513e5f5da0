import Foundation

/// The program and the arguments of a command text.
///
/// A text of plain words is split at spaces, and the program is executed directly. A text with any character that has a
/// meaning for the shell (quotes, `$`, `|`, `>`, `*`, `~`, `=` in the first word, ...) is executed by `/bin/sh -c`.
struct CommandProgram {
    /// The absolute path of the program, and its arguments.
    let arguments: [String]

    private static let shell = "/bin/sh"
    private static let plainSigns = Set("_-+=%@:,./^".unicodeScalars)
    /// The search path if the environment has no `PATH`.
    private static let defaultPath = "/usr/local/bin:/usr/bin:/bin"

    /// Finds the program of a command text.
    /// - Throws: ``InvalidCommand`` if the text is empty, or no program of this name can be executed.
    init(_ text: String, path: String? = ProcessInfo.processInfo.environment["PATH"]) throws(InvalidCommand) {
        guard !text.contains("\0") else { throw InvalidCommand("the command contains a NUL character") }
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let name = words.first else { throw InvalidCommand("the command is empty") }
        guard !name.contains("="), words.allSatisfy(Self.isPlain) else {
            arguments = [Self.shell, "-c", text]
            return
        }
        arguments = [try Self.find(name, path ?? Self.defaultPath)] + words.dropFirst()
    }

    private static func isPlain(_ word: String) -> Bool {
        word.unicodeScalars.allSatisfy {
            plainSigns.contains($0) || $0.properties.isAlphabetic || ("0"..."9").contains($0)
        }
    }

    private static func find(_ name: String, _ path: String) throws(InvalidCommand) -> String {
        guard !name.contains("/") else {
            let file = URL(fileURLWithPath: name).standardizedFileURL.path
            guard isProgram(file) else { throw InvalidCommand("\(file) does not exist or cannot be executed") }
            return file
        }
        for folder in path.split(separator: ":") {
            let file = URL(fileURLWithPath: "\(folder)/\(name)").path
            if isProgram(file) { return file }
        }
        throw InvalidCommand("no program \"\(name)\" was found in PATH (\(path))")
    }

    private static func isProgram(_ file: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: file)
    }
}

/// A command that cannot be a custom filter.
package struct InvalidCommand: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
