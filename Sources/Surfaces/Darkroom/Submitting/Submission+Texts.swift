import DarkroomRecipes
import DarkroomText
import Foundation

/// The values of the fields as texts: fields of the HTTP API, and those options of commands whose values are texts.
extension Submission {
    /// Sets a field to values that are given as texts. Only ``Field/filters``, ``Field/renditions`` and ``Field/after``
    /// take several values.
    package mutating func set(_ field: Field, to texts: [String]) throws(FieldError) {
        // The system ends a text at its first NUL, so parts of the program would read different values.
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw FieldError(field, "the value contains a NUL character")
        }
        switch field {
        case .filters:
            var chains: [[PhotoFilter]] = []
            for text in texts {
                chains.append(
                    try FieldError.parsing(field, text) { () throws(ChainSyntaxError) in
                        try [PhotoFilter](parsing: text)
                    })
            }
            try setFilters(chains)
        case .renditions:
            var renditions: [PhotoRendition] = []
            for text in texts {
                renditions.append(
                    try FieldError.parsing(field, text) { () throws(ChainSyntaxError) in
                        try PhotoRendition(parsing: text)
                    })
            }
            setRenditions(renditions)
        case .after: batchesBefore = texts
        default:
            guard texts.count == 1 else { throw FieldError(field, "\(texts.count) values; give one") }
            try set(field, to: texts[0])
        }
    }

    private mutating func set(_ field: Field, to text: String) throws(FieldError) {
        func value<Value: ExpressibleByArgument>() throws(FieldError) -> Value {
            do {
                return try Value(argument: text)
            } catch {
                throw FieldError(field, "\"\(text)\"", "\(error)")
            }
        }
        func flag() throws(FieldError) -> Bool {
            guard let flag = Bool(flag: text) else { throw FieldError(field, "\"\(text)\"", "it can be true or false") }
            return flag
        }
        func count() throws(FieldError) -> Int { (try value() as Quantity).value }
        switch field {
        case .list: list.location = text
        case .isRecursive: list.isRecursive = try flag()
        case .urlColumn: list.urlColumn = text
        case .nameColumn: list.nameColumn = text
        case .quotes: list.quotes = try value()
        case .limit: list.limit = try count()
        case .sample: list.sample = try count()
        case .seed: list.seed = try value()
        case .filters, .renditions, .after: try set(field, to: [text])
        case .encoding: options.encoding = PhotoEncoding(text)
        case .damagedPhotos: options.damagedPhotos = try value()
        case .keepsAnimations: options.keepsAnimations = (try value() as AnimationFrames) == .keep
        case .lossless, .progressive, .palette, .srgb: if try flag() { try setEncoding(field, to: "yes") }
        case .format, .quality, .effort, .chroma, .maxBytes, .metadata, .background, .hdr:
            try setEncoding(field, to: text)
        case .output: options.output = text
        case .remoteOutput: options.remoteOutput = try flag()
        case .originals: options.originals = text
        case .fileName: fileName = text
        case .overwrite: overwrite = try flag()
        case .redactURLs: options.redactURLs = try flag()
        case .keepsTimes: options.keepsTimes = try flag()
        case .name: options.name = text
        case .priority: options.priority = try value()
        case .afterSuccess: options.afterSuccess = try flag()
        case .webhook: options.webhook = text
        case .operationSize: options.operationSize = try value()
        case .lease: options.lease = try value()
        case .window: options.window = try count()
        case .retain: options.retain = (try value() as Retention).duration
        case .replicas: replicas = try value()
        }
    }

    /// Sets a setting of the encoding.
    private mutating func setEncoding(_ field: Field, to text: String) throws(FieldError) {
        guard let setting = field.setting else { preconditionFailure("\(field) is not a setting of the encoding") }
        options.encoding = try FieldError.parsing(.encoding) {
            [encoding = options.encoding] () throws(ChainSyntaxError) in
            try encoding.checked()
        }
        do throws(InvalidParameterValue) {
            try options.encoding.set(setting, to: text)
        } catch {
            throw FieldError(field, ShellWord.quoted(text), error.advice)
        }
    }

    /// Sets the filters. The paths of watermarks become absolute.
    package mutating func setFilters(_ chains: [[PhotoFilter]]) throws(FieldError) {
        guard chains.count < 2 || !chains.contains(where: \.isEmpty) else {
            throw FieldError(.filters, "none", "none stands alone; leave it or the other filters out")
        }
        options.filters = chains.flatMap { $0.map(Self.absolute) }
    }

    /// Sets the renditions. The paths of watermarks become absolute.
    package mutating func setRenditions(_ renditions: [PhotoRendition]) {
        options.renditions = renditions.map { rendition in
            PhotoRendition(
                rendition.name, filters: rendition.filters.map(Self.absolute), encoding: rendition.encoding)
        }
    }

    private static func absolute(_ filter: PhotoFilter) -> PhotoFilter {
        guard let watermark = filter.builtIn, watermark.kind == .watermark, let path = watermark.text("image") else {
            return filter
        }
        return watermark.with("image", absolutePath(path))
    }
}

/// The absolute path, without `.` and `..`. Symbolic links are not resolved.
package func absolutePath(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

extension Bool {
    /// A value of a form: `true`, `on`, `1`, `false` or `0`; nil for another text.
    package init?(flag text: String) {
        switch text {
        case "true", "on", "1": self = true
        case "false", "0": self = false
        default: return nil
        }
    }
}

extension BatchPriority: ExpressibleByArgument {}
extension DamagedPhotos: ExpressibleByArgument {}
extension PhotoList.Quotes: ExpressibleByArgument {}

/// The frames of animations that are kept.
package enum AnimationFrames: String, CaseIterable, ExpressibleByArgument { case first, keep }

/// The time for which Redis keeps a finished batch.
package enum Retention: ExpressibleByArgument {
    case duration(Duration)
    case forever

    package init(argument: String) throws {
        if argument == "forever" {
            self = .forever
        } else {
            do {
                self = .duration(try Duration(argument: argument))
            } catch {
                throw InvalidValue("\(error), or \"forever\"")
            }
        }
    }

    package var argumentText: String {
        switch self {
        case .duration(let duration): duration.argumentText
        case .forever: "forever"
        }
    }

    /// The duration; nil means forever.
    package var duration: Duration? {
        if case .duration(let duration) = self { duration } else { nil }
    }
}
