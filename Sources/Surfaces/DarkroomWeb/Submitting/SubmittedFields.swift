import Darkroom
import DarkroomFiles
import DarkroomStorage

/// The fields that a client submits with a list: fields of a ``Submission``, by their names in the HTTP API.
struct SubmittedFields {
    /// The fields that clients may give. A client cannot choose the other fields of a submission.
    private static let fields: [(name: String, field: Submission.Field)] = [
        ("output", .output), ("originals", .originals), ("name", .name), ("priority", .priority), ("after", .after),
        ("afterSuccess", .afterSuccess), ("filter", .filters), ("rendition", .renditions), ("format", .format),
        ("quality", .quality), ("lossless", .lossless), ("effort", .effort), ("progressive", .progressive),
        ("chroma", .chroma), ("palette", .palette), ("maxBytes", .maxBytes), ("metadata", .metadata),
        ("background", .background), ("srgb", .srgb), ("hdr", .hdr), ("onDamaged", .damagedPhotos),
        ("animation", .keepsAnimations), ("fileName", .fileName), ("overwrite", .overwrite),
        ("redactUrls", .redactURLs), ("keepTimes", .keepsTimes), ("operationSize", .operationSize), ("lease", .lease),
        ("window", .window), ("retain", .retain), ("webhook", .webhook), ("urlColumn", .urlColumn),
        ("nameColumn", .nameColumn), ("quotes", .quotes), ("limit", .limit), ("sample", .sample), ("seed", .seed),
    ]

    /// The names of the fields.
    static let names = fields.map(\.name)

    /// The name of a field in messages.
    static func name(of field: Submission.Field) -> String {
        "\"\(fields.first { $0.field == field }?.name ?? field.rawValue)\""
    }

    /// The names and values that the client gave. A field with several values occurs several times.
    let given: [(name: String, value: String)]
    /// The folder into which batches write.
    let outputs: String

    /// Fills the form of a new batch.
    /// - Parameter list: The path or the URL of the list.
    /// - Throws: ``FieldError``, or ``DarkroomError`` with the code `invalidOptions` for an unknown name.
    func submission(of list: String) throws -> Submission {
        var form = Submission(list)
        // The workers create the folders, since this machine may not have them.
        form.remoteOutput = true
        for (field, values) in try values() {
            let isFolder = field == .output || field == .originals
            try form.set(field, to: isFolder ? values.map { try place($0, field) } : values)
        }
        guard !form.output.isEmpty else {
            throw FieldError(.output, "it is missing; name the folder of the photos, in \(outputs)")
        }
        return try form.checked()
    }

    /// The list with the fields for reading it, for a feed that continues.
    /// - Parameter list: The path or the URL of the list.
    func photoList(at list: String) throws -> PhotoList {
        let reading: Set<Submission.Field> = [.urlColumn, .nameColumn, .quotes, .limit, .sample, .seed]
        var form = Submission(list)
        for (field, values) in try values() where reading.contains(field) { try form.set(field, to: values) }
        try form.list.check(continues: true)
        return form.list
    }

    /// The values of each given field.
    private func values() throws(DarkroomError) -> [(field: Submission.Field, values: [String])] {
        if let unknown = given.first(where: { !Self.names.contains($0.name) })?.name {
            throw DarkroomError(.invalidOptions, "submit a list", "there is no field \"\(unknown)\"")
        }
        return Self.fields.map { name, field in (field, given.filter { $0.name == name }.map(\.value)) }
            .filter { !$0.values.isEmpty }
    }

    /// A location in ``outputs``. Relative paths begin there.
    private func place(_ text: String, _ field: Submission.Field) throws(FieldError) -> String {
        // The form refuses a NUL in every field.
        guard !text.utf8.contains(0) else { return text }
        guard !Path.climbs(text) else { throw FieldError(field, "\"\(text)\"", "it must not contain \"..\"") }
        do throws(StorageError) {
            let location = try StorageSchemes.location(text) {
                Path.isAbsolute($0) ? $0 : Path.joined(outputs, $0)
            }
            if StorageSchemes.place(location).isIn(outputs) { return location }
        } catch {
            throw FieldError(field, "\"\(text)\"", error.problem)
        }
        throw FieldError(field, "\"\(text)\"", "this server submits only to folders in \(outputs)")
    }
}
