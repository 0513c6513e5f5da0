import DarkroomCoordinator
import DarkroomFiles
import DarkroomLists
import DarkroomRecipes
import DarkroomStorage
import DarkroomText

/// The checks of a form.
extension Submission {
    /// This submission with filters, encoding and folders in canonical form. The file name template is checked when the
    /// list is open, see ``options(for:)``.
    package func checked() throws(FieldError) -> Submission {
        try list.check()
        try checkQueueing()
        try FieldError.require(0, replicas, .replicas)
        var checked = self
        checked.options = try options.checkedImages()
        checked.options.output = try Self.location(options.output, .output) { (text) throws(StorageError) in
            try StorageSchemes.location(text)
        }
        checked.options.originals = try Self.location(options.originals, .originals, OutputFolder.canonical)
        return checked
    }

    private func checkQueueing() throws(FieldError) {
        if let problem = BatchOptions.problem(ofName: options.name) {
            throw FieldError(.name, "\"\(options.name.prefix(40))\"", problem)
        }
        if !options.webhook.isEmpty, let problem = BatchOptions.problem(ofWebhook: options.webhook) {
            throw FieldError(.webhook, problem)
        }
        guard BatchOptions.operationSizes.contains(options.operationSize) else {
            throw FieldError(.operationSize, "\(options.operationSize)", "from 1 to 1000")
        }
        let (lease, leases) = (options.lease, BatchOptions.leaseMilliseconds)
        guard lease >= .milliseconds(leases.lowerBound) else {
            throw FieldError(.lease, lease.argumentText, "at least 6s, so that two heartbeats may get lost")
        }
        guard lease <= .milliseconds(leases.upperBound) else {
            throw FieldError(
                .lease, lease.argumentText, "at most 24h, since the photos of a lost worker wait that long")
        }
        try FieldError.require(BatchOptions.windows.lowerBound, options.window, .window)
        if let retain = options.retain, retain < .zero { throw FieldError(.retain, "\(retain)", "at least 0s") }
        let before = after.count + batchesBefore.count
        guard before <= BatchOptions.mostBatchesBefore else {
            throw FieldError(
                .after,
                "\(before) batches, at most \(BatchOptions.mostBatchesBefore) are possible; let one of them wait for others"
            )
        }
        if options.afterSuccess, before == 0 {
            throw FieldError(.afterSuccess) { "name the batches that must succeed, with \($0(.after))" }
        }
    }

    /// The canonical form of a location; empty if the text is empty.
    private static func location(
        _ text: String, _ field: Field, _ canonical: (String) throws(StorageError) -> String
    ) throws(FieldError) -> String {
        guard !text.isEmpty else { return "" }
        do throws(StorageError) {
            return try canonical(text)
        } catch {
            throw FieldError(field, "\"\(text)\"", error.problem)
        }
    }
}

extension BatchOptions {
    /// The options with filters, renditions and encoding in canonical form.
    package func checkedImages() throws(FieldError) -> BatchOptions {
        if !filters.isEmpty, !renditions.isEmpty {
            throw FieldError(.filters, "each rendition has filters of its own; write the filter there")
        }
        var options = self
        options.filters = try FieldError.parsing(.filters) { () throws(ChainSyntaxError) in try filters.checked() }
        options.encoding = try FieldError.parsing(.encoding) { () throws(ChainSyntaxError) in try encoding.checked() }
        options.renditions = try FieldError.parsing(.renditions) {
            [encoding = options.encoding] () throws(ChainSyntaxError) in
            let checked = try renditions.checked()
            try checked.checkSettings(over: encoding)
            return checked
        }
        if renditions.isEmpty { try Submission.check(options.encoding) }
        return options
    }
}

extension Submission {
    /// Throws if a setting can have no effect.
    package static func check(_ settings: PhotoEncoding) throws(FieldError) {
        guard let (setting, problem) = settings.settingWithoutEffect(of: settings) else { return }
        throw FieldError(Field(setting), problem)
    }

    // MARK: - Options of an open list

    /// The options of the batch.
    /// - Parameter reader: The open list; nil for photos from a collection.
    /// - Throws: ``FieldError`` if the file name template does not suit the list; ``CoordinatorError`` if files of the
    ///   batch would be photos of the list.
    package func options(for reader: PhotoListReader?) throws -> BatchOptions {
        var options = options
        do throws(FileNameTemplate.Problem) {
            let standard = BatchOptions().fileName
            let template =
                if let reader {
                    try reader.fileNameTemplate(fileName)
                } else {
                    try FileNameTemplate(fileName ?? standard, namesAreUnique: true)
                }
            options.fileName = template.description
        } catch {
            throw FieldError(.fileName, "\(error)")
        }
        if let records = list.records { try checkFileNames(options.fileName, of: records) }
        guard let reader else { return options }
        options.photosFolder = reader.photosFolder
        if reader.format == .folder { try options.requireApart(from: reader.photosFolder) }
        return options
    }

    /// Throws if two photos could have the same file name, for example on a case-insensitive file system.
    private func checkFileNames(_ text: String, of photos: any PhotoListSource) throws {
        let template = try FileNameTemplate(text, namesAreUnique: true)
        guard !template.hasIndex else { return }
        var paths: Set<String> = []
        var repeated: String?
        try photos.read { entry in
            let name = String(decoding: entry.name, as: UTF8.self)
            // Some file systems ignore case and Unicode composition. Swift's `==` already ignores composition.
            let path = template.path(index: 0, name: name, ending: "").lowercased()
            if !paths.insert(path).inserted { repeated = name }
            return repeated == nil
        }
        guard let repeated else { return }
        throw FieldError(
            .fileName, "\"\(text)\"",
            "it has no {index}, and two photos would get the same file: the name \"\(repeated)\" repeats an earlier one, apart "
                + "from case; make the names unique or use {index}")
    }
}
