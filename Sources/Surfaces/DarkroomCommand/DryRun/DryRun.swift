import Darkroom
import DarkroomImaging
import DarkroomLists
import DarkroomText

/// The report of `--dry-run` about the effects that a command would have. Stores nothing.
struct DryRun {
    private static let noteEvery = Duration.seconds(5)

    let photos: SelectedPhotos
    let examination: SubmissionExamination

    /// Reads the whole list. Blocks.
    /// - Parameters:
    ///   - outputExists: Whether the output folder exists; nil if it is not on this machine.
    ///   - fileFolders: The folders from which the worker of a run may read files; nil if other workers take part.
    ///   - progress: Gets a note every 5 s.
    init(
        _ photos: SelectedPhotos, _ options: BatchOptions, outputExists: Bool?, fileFolders: [String]? = nil,
        _ progress: LiveProgress
    ) throws {
        self.photos = photos
        var next = ContinuousClock.now + Self.noteEvery
        examination = try SubmissionExamination(
            of: photos, photos, options, outputExists: outputExists, fileFolders: fileFolders
        ) { count in
            guard next < .now else { return }
            progress.note("\(HumanText.count(count)) photos read")
            next = .now + Self.noteEvery
        }
    }

    private var options: BatchOptions { examination.options }

    /// Prints the report.
    /// - Parameters:
    ///   - standard: The standard options. An option is printed only if its value differs from the standard.
    ///   - warnings: Reasons why the photos would have to wait.
    func write(_ action: PlannedAction, besides standard: BatchOptions, warnings: [String], isJSON: Bool) throws {
        let output = StandardOutput()
        if isJSON { return try output.document(json(action, warnings)) }
        var sheet = FactSheet()
        addList(to: &sheet)
        addFiles(to: &sheet)
        for (now, usual) in zip(settings(of: options), settings(of: standard)) where now.value != usual.value {
            sheet.add(now.name, now.value)
        }
        for warning in warnings { sheet.add("warning", warning) }
        sheet.add("would", action.text)
        try sheet.write(to: output)
    }

    private func addList(to sheet: inout FactSheet) {
        sheet.add("list", "\(photos.list.name), \(photos.list.format.text)")
        var count = HumanText.count(examination.photos)
        switch photos.selection {
        case .all: break
        case .first: count += ", the first of the list"
        case .sample(let sample):
            count += " of \(HumanText.count(photos.listedPhotos ?? 0)), a sample with the seed \(sample.seed)"
        }
        sheet.add("photos", count)
        let reasons = reasonsByCount.map { "\(HumanText.count($0.count)) \($0.reason.word)" }
        sheet.add("no usable URL", reasons.isEmpty ? "0" : reasons.joined(separator: ", "))
        for entry in examination.unusable {
            let line = entry.line.map { "line \($0), " } ?? ""
            let name = HumanText.safe(entry.name)
            sheet.add("  \(line)photo \(entry.index)", "\(name): \(entry.reason.word): \(entry.detail)")
        }
        var found = HumanText.count(examination.repetitions)
        if examination.repetitions > 0 { found += ": \(HumanText.list(examination.repeatedNames))" }
        if examination.comparedPhotos < examination.photos {
            found += " (only the first \(HumanText.count(examination.comparedPhotos)) photos were compared)"
        }
        sheet.add(examination.namesHaveIndex ? "repeated names" : "same file if case is ignored", found)
    }

    private func addFiles(to sheet: inout FactSheet) {
        for file in examination.firstFiles { sheet.add("file", file) }
        if examination.leavesFilesOut { sheet.add("file", "...") }
        for file in examination.lastFiles { sheet.add("file", file) }
        for row in options.recipeRows { sheet.add(row.name, row.text) }
        let holder = examination.outputHolder.map { ", taken by batch \($0)" } ?? ""
        let found =
            examination.outputExists.map { $0 ? " (exists\(holder))" : " (new)" } ?? " (on the machines of the workers)"
        sheet.add("output", options.output + found)
    }

    private var reasonsByCount: [(reason: FailureReason, count: Int)] {
        examination.failures.sorted { ($1.value, $0.key.word) < ($0.value, $1.key.word) }.map { ($0.key, $0.value) }
    }

    private func json(_ action: PlannedAction, _ warnings: [String]) -> JSON {
        let unusable = examination.unusable.map { entry -> JSON in
            [
                "index": .int(entry.index), "line": JSON(entry.line), "name": .string(entry.name),
                "reason": .string(entry.reason.word), "detail": .string(entry.detail),
            ]
        }
        let repetitions: JSON = [
            "count": .int(examination.repetitions), "compared": .int(examination.comparedPhotos),
            "first": .array(examination.repeatedNames.map(JSON.string)),
        ]
        let settings = settings(of: options).map { JSON.Member(key: $0.key, value: .string($0.value)) }
        let document: JSON = [
            "would": .string(action.word), "batch": JSON(action.batch?.description),
            "list": .string(photos.list.name), "photos": .int(examination.photos),
            "listedPhotos": JSON(examination.listedPhotos), "seed": JSON(examination.seed),
            "failures": .object(reasonsByCount.map { JSON.Member(key: $0.reason.word, value: .int($0.count)) }),
            "unusable": .array(unusable), examination.namesHaveIndex ? "repeatedNames" : "repeatedFiles": repetitions,
            "firstFiles": .array(examination.firstFiles.map(JSON.string)),
            "lastFiles": .array(examination.lastFiles.map(JSON.string)),
            "output": .string(options.output), "outputExists": examination.outputExists.map(JSON.bool) ?? .null,
            "outputHolder": JSON(examination.outputHolder?.description),
            "options": .object(settings), "warnings": .array(warnings.map(JSON.string)),
        ]
        return document.adding(JSON(recipeOf: options))
    }

    /// The options that are printed if they differ from the standard options.
    private func settings(of options: BatchOptions) -> [(name: String, key: String, value: String)] {
        func word(_ flag: Bool) -> String { flag ? "yes" : "no" }
        return [
            ("file names", "fileName", options.fileName),
            ("originals", "originals", options.originals),
            ("URLs in the manifest", "manifestURLs", options.redactURLs ? "redacted" : "whole"),
            ("remote output", "remoteOutput", word(options.remoteOutput)),
            ("name", "name", options.name),
            ("priority", "priority", options.priority.rawValue),
            ("after success", "afterSuccess", word(options.afterSuccess)),
            ("webhook", "webhook", PhotoURL.redacted(options.webhook)),
            ("photos per operation", "operationSize", "\(options.operationSize)"),
            ("lease", "lease", options.lease.argumentText),
            ("window", "window", "\(options.window)"),
            ("retain", "retain", options.retain?.argumentText ?? "forever"),
        ]
    }
}

extension PhotoListFormat {
    fileprivate var text: String {
        switch self {
        case .text: "plain text"
        case .separated: "CSV or TSV"
        case .jsonLines: "JSONL"
        case .json: "JSON"
        case .propertyList: "property list"
        case .folder: "folder"
        }
    }
}
