import DarkroomRecipes
import DarkroomStorage

/// The checks of the options of a new batch. The command line makes the same checks.
extension BatchOptions {
    /// The options with filters and folders in canonical form.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions`.
    func checked() throws -> BatchOptions {
        var options = self
        if let problem = Self.problem(ofName: name) { throw Self.invalid("name \"\(name.prefix(40))\": \(problem)") }
        if !webhook.isEmpty, let problem = Self.problem(ofWebhook: webhook) {
            throw Self.invalid("webhook: \(problem)")
        }
        options.output = try Self.checked(output, "output") { (text) throws(StorageError) in
            try StorageSchemes.location(text)
        }
        options.originals = try Self.checked(originals, "originals", OutputFolder.canonical)
        do {
            return try options.canonical()
        } catch {
            throw DarkroomError(.invalidOptions, "submit a batch", "\(error)", cause: error)
        }
    }

    /// Throws if ``fileName`` is invalid, or if two photos could have the same file name, for example on a
    /// case-insensitive file system.
    func checkFileNames(of photos: some Collection<(name: String, url: String)>) throws {
        let template = try FileNameTemplate(fileName, namesAreUnique: true)
        guard !template.hasIndex else { return }
        var paths: Set<String> = []
        for photo in photos {
            // Some file systems ignore case and Unicode composition. Swift's `==` already ignores composition.
            let path = template.path(index: 0, name: photo.name, ending: "").lowercased()
            guard paths.insert(path).inserted else {
                throw Self.invalid(
                    "fileName \"\(fileName)\" has no {index}, and two photos would get the same file: the name \"\(photo.name)\" "
                        + "repeats an earlier one, apart from case; make the names unique or use {index}")
            }
        }
    }

    /// The canonical form of a location; empty if it is empty.
    private static func checked(
        _ location: String, _ option: String, _ canonical: (String) throws(StorageError) -> String
    ) throws -> String {
        guard !location.isEmpty else { return "" }
        do throws(StorageError) {
            return try canonical(location)
        } catch {
            throw invalid("\(option) \"\(location)\": \(error.problem)")
        }
    }

    private static func invalid(_ message: String) -> DarkroomError {
        DarkroomError(.invalidOptions, "submit a batch", message)
    }
}
