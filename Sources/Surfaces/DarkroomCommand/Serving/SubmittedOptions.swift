import ArgumentParsing
import Darkroom
import DarkroomFiles
import DarkroomStorage

/// The options of a list that a user of `darkroom serve` submits: a part of the options of `darkroom submit`.
struct SubmittedOptions {
    private enum Kind {
        case value
        case flag
        /// A folder, which must be in the folder of the server.
        case folder
    }

    /// The options by their names in the HTTP API. The option of the command has the same name in another spelling:
    /// `fileName` is `--file-name`.
    private static let options: [(name: String, kind: Kind)] = [
        ("output", .folder), ("originals", .folder), ("name", .value), ("priority", .value), ("after", .value),
        ("afterSuccess", .flag), ("filter", .value), ("rendition", .value), ("format", .value), ("quality", .value),
        ("lossless", .flag), ("effort", .value), ("progressive", .flag), ("chroma", .value), ("palette", .flag),
        ("maxBytes", .value), ("metadata", .value), ("background", .value), ("srgb", .flag), ("hdr", .value),
        ("onDamaged", .value), ("animation", .value), ("fileName", .value), ("overwrite", .flag), ("redactUrls", .flag),
        ("keepTimes", .flag),
        ("operationSize", .value), ("lease", .value), ("window", .value), ("retain", .value), ("webhook", .value),
        ("urlColumn", .value), ("nameColumn", .value), ("quotes", .value), ("limit", .value), ("sample", .value),
        ("seed", .value),
    ]

    /// The options for reading a list, which a resumed feed needs again.
    private static let ofReading: Set = ["urlColumn", "nameColumn", "quotes", "limit", "sample", "seed"]

    static let fields = options.map(\.name)

    private let given: [(name: String, value: String)]
    private let outputs: String

    /// - Parameter outputs: The folder into which batches write.
    init(_ given: [(name: String, value: String)], outputs: String) {
        self.given = given
        self.outputs = outputs
    }

    /// The arguments of `darkroom submit` after the list.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions`.
    func arguments() throws -> [String] {
        guard given.contains(where: { $0.name == "output" }) else {
            throw Self.invalid("\"output\" is missing: name the folder of the photos, below \(outputs)")
        }
        // The workers create the folders, since this machine may not have them.
        return try ["--remote-output"] + given.flatMap(argument)
    }

    /// The arguments for reading the list.
    var readingArguments: [String] {
        given.filter { Self.ofReading.contains($0.name) }.map { Self.option($0.name) + "=" + $0.value }
    }

    private func argument(_ given: (name: String, value: String)) throws -> [String] {
        let option = Self.option(given.name)
        // The system ends a text at its first NUL, so other parts of the program would read another value.
        guard !given.value.utf8.contains(0) else { throw Self.invalid("\"\(given.name)\" contains a NUL character") }
        switch Self.options.first(where: { $0.name == given.name })?.kind {
        case .value: return ["\(option)=\(given.value)"]
        case .folder: return ["\(option)=\(try place(given.value, given.name))"]
        case .flag:
            switch given.value {
            case "true", "on", "1": return [option]
            case "false", "0": return []
            default: throw Self.invalid("\"\(given.name)\" is \"\(given.value)\"; it can be true or false")
            }
        case nil: throw Self.invalid("there is no option \"\(given.name)\"")
        }
    }

    /// A location in ``outputs``. Relative paths begin there.
    private func place(_ text: String, _ name: String) throws -> String {
        guard !Path.climbs(text) else { throw Self.invalid("\"\(name)\" is \"\(text)\"; it must not contain \"..\"") }
        do throws(StorageError) {
            let location = try StorageSchemes.location(text) {
                Path.isAbsolute($0) ? $0 : Path.joined(outputs, $0)
            }
            if StorageSchemes.place(location).isIn(outputs) { return location }
        } catch {
            throw Self.invalid("\"\(name)\" is \"\(text)\"; \(error.problem)")
        }
        throw Self.invalid("\"\(name)\" is \"\(text)\"; this server submits only to folders below \(outputs)")
    }

    private static func invalid(_ message: String) -> DarkroomError {
        DarkroomError(.invalidOptions, "submit a list", message)
    }

    private static func option(_ name: String) -> String {
        "--" + name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}
