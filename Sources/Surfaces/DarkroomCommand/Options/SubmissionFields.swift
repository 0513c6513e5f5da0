import ArgumentParsing
import Darkroom

extension Submission.Field {
    /// The option for the field, or another name for a field that has no option.
    var option: String {
        switch self {
        case .list: "<list>"
        case .isRecursive: "--recursive"
        case .urlColumn: "--url-column"
        case .nameColumn: "--name-column"
        case .quotes: "--quotes"
        case .limit: "--limit"
        case .sample: "--sample"
        case .seed: "--seed"
        case .filters: "--filter"
        case .renditions: "--rendition"
        case .encoding: "the encoding"
        case .damagedPhotos: "--on-damaged"
        case .keepsAnimations: "--animation"
        case .format: "--format"
        case .quality: "--quality"
        case .lossless: "--lossless"
        case .effort: "--effort"
        case .progressive: "--progressive"
        case .chroma: "--chroma"
        case .palette: "--palette"
        case .maxBytes: "--max-bytes"
        case .metadata: "--metadata"
        case .background: "--background"
        case .srgb: "--srgb"
        case .hdr: "--hdr"
        case .output: "--output"
        case .remoteOutput: "--remote-output"
        case .originals: "--originals"
        case .fileName: "--file-name"
        case .overwrite: "--overwrite"
        case .redactURLs: "--redact-urls"
        case .keepsTimes: "--keep-times"
        case .name: "--name"
        case .priority: "--priority"
        case .after: "--after"
        case .afterSuccess: "--after-success"
        case .webhook: "--webhook"
        case .operationSize: "--operation-size"
        case .lease: "--lease"
        case .window: "--window"
        case .retain: "--retain"
        case .replicas: "--replicas"
        }
    }
}

extension FieldError {
    /// The message that a command prints, with the position of the mistake.
    func text(_ name: Names = \.option) -> String { message(name) + (pointed.map { "\n" + $0 } ?? "") }
}

/// Calls `body`. In the messages of its errors, replaces the fields by the options of the command line.
/// - Throws: ``ValidationError`` if a field has an invalid value.
func namingOptions<Result>(_ name: FieldError.Names = \.option, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as FieldError {
        throw ValidationError(error.text(name))
    }
}
