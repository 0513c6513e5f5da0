/// Why a photo failed: the state code that stands for it in Redis, a small letter, and the word that users read.
///
/// State codes are stored, so none changes its meaning; a code that this version does not know reads as ``other``.
public enum FailureReason: UInt8, Sendable, CaseIterable, Hashable {
    case notAURL = 97  // a
    case schemeDenied, addressDenied, nameNotFound, connectFailed, tlsFailed, timeout, stalled  // b-h
    case httpClientError, httpServerError, tooManyRedirects, tooLarge, truncated  // i-m
    case notAnImage, unsupportedFormat, damaged, tooManyPixels, outOfMemory, crashed  // n-s
    case diskFull, outputDenied, filterFailed, fileNotFound, filterTimeout  // t-x
    case other = 122  // z

    /// The small letter that stands for this reason in a batch's `states`.
    public var stateCode: UInt8 { rawValue }

    /// The word for this reason in the command line, in JSON and in `failures`, such as `not-a-url`.
    public var word: String {
        switch self {
        case .notAURL: "not-a-url"
        case .schemeDenied: "scheme-denied"
        case .addressDenied: "address-denied"
        case .nameNotFound: "name-not-found"
        case .connectFailed: "connect-failed"
        case .tlsFailed: "tls-failed"
        case .timeout: "timeout"
        case .stalled: "stalled"
        case .httpClientError: "http-4xx"
        case .httpServerError: "http-5xx"
        case .tooManyRedirects: "too-many-redirects"
        case .tooLarge: "too-large"
        case .truncated: "truncated"
        case .notAnImage: "not-an-image"
        case .unsupportedFormat: "unsupported-format"
        case .damaged: "damaged"
        case .tooManyPixels: "too-many-pixels"
        case .outOfMemory: "out-of-memory"
        case .crashed: "crashed"
        case .diskFull: "disk-full"
        case .outputDenied: "output-denied"
        case .filterFailed: "filter-failed"
        case .fileNotFound: "file-not-found"
        case .filterTimeout: "filter-timeout"
        case .other: "other"
        }
    }

    /// True if a photo with this reason failed before or during its download.
    public var isOfDownload: Bool {
        switch self {
        case .notAnImage, .unsupportedFormat, .damaged, .tooManyPixels, .outOfMemory, .crashed, .diskFull,
            .outputDenied, .filterFailed, .filterTimeout:
            false
        default: true
        }
    }

    /// The reason of a small letter; ``other`` for a state code that a newer version wrote, nil for what is no small letter.
    public init?(stateCode: UInt8) {
        guard (97...122).contains(stateCode) else { return nil }
        self = FailureReason(rawValue: stateCode) ?? .other
    }

    /// The reason with this ``word``, nil when there is none.
    public init?(word: String) {
        guard let reason = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = reason
    }
}
