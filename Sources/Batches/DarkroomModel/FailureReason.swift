/// The reason why a photo failed. More reasons may be added, so a `switch` over them needs a default.
///
/// The raw value is the state code of the reason in Redis: a small letter or a byte from 0x80 to 0xFF. The meaning of a
/// state code never changes. State codes that were added in a newer version are read as ``other``.
public enum FailureReason: UInt8, Sendable, CaseIterable, Hashable {
    /// The list contains no valid URL for the photo.
    case notAURL = 97  // The list contains no valid URL for the photo.
    /// The scheme is not supported.
    case schemeDenied
    /// The worker's rules do not allow the host or its address.
    case addressDenied
    /// The host name cannot be resolved.
    case nameNotFound
    /// The connection to the host failed.
    case connectFailed
    /// The TLS handshake failed, or the certificate is invalid.
    case tlsFailed
    /// The download exceeded its time limit.
    case timeout
    /// The server sent no data, or sent the data too slowly.
    case stalled
    /// The server answered with a status of 400 to 499.
    case httpClientError
    /// The server answered with a status of 500 to 599, or with another status that does not mean success.
    case httpServerError
    /// The server sent too many redirects.
    case tooManyRedirects
    /// The download exceeds the size limit.
    case tooLarge
    /// The connection ended before the download was complete.
    case truncated
    /// The downloaded file is not a picture.
    case notAnImage
    /// The format of the picture is not supported.
    case unsupportedFormat
    /// The picture is damaged.
    case damaged
    /// The picture has more pixels than the limit allows.
    case tooManyPixels
    /// Developing the photo requires more memory than the limit allows.
    case outOfMemory
    /// Several processes crashed while developing the photo.
    case crashed
    /// The disk of the output folder is full.
    case diskFull
    /// The file cannot be written to the output folder.
    case outputDenied
    /// A filter, an encoder or a custom filter failed.
    case filterFailed
    /// The file of a `file:` URL does not exist.
    case fileNotFound
    /// Filtering the photo exceeded its CPU time limit.
    case filterTimeout
    /// The worker is not allowed to read the file of a `file:` URL.
    case fileDenied
    /// A reason that was added in a newer version.
    case other = 122  // z
    /// The host did not answer for longer than the patience of the worker.
    case hostUnreachable = 128
    /// The host refused all requests for longer than the patience of the worker, or asked for a longer pause.
    case hostRefuses
    /// The host sent several photos too slowly or incompletely.
    case hostTooSlow
    /// The server says that the photo must not be used for AI or for an index, and the worker skips such photos.
    case optedOut

    /// The state code of this reason in the key `:states` of a batch.
    package var stateCode: UInt8 { rawValue }

    /// The state codes that are read as this reason. For ``other``, these include the codes of reasons that this
    /// version does not know.
    package var stateCodes: [UInt8] {
        self == .other ? (0...UInt8.max).filter { Self(stateCode: $0) == .other } : [rawValue]
    }

    /// Whether a byte is the state code of a failed photo, even if this version does not know the reason.
    ///
    /// The scripts have the same definition: `FAILURE_CODES` in `prelude.lua`. Capital letters are the codes of the
    /// other states, and `.` means "unchanged" in a report.
    package static func isStateCode(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte >= 0x80
    }

    /// The word for this reason on the command line, in JSON and in manifests, for example `not-a-url`.
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
        case .fileDenied: "file-denied"
        case .other: "other"
        case .hostUnreachable: "host-unreachable"
        case .hostRefuses: "host-refuses"
        case .hostTooSlow: "host-too-slow"
        case .optedOut: "opted-out"
        }
    }

    /// True if photos with this reason fail before or during the download.
    package var isOfDownload: Bool {
        switch self {
        case .notAnImage, .unsupportedFormat, .damaged, .tooManyPixels, .outOfMemory, .crashed, .diskFull,
            .outputDenied, .filterFailed, .filterTimeout:
            false
        default: true
        }
    }

    /// The reason with this state code; ``other`` for the code of an unknown reason, nil for any other byte.
    package init?(stateCode: UInt8) {
        guard Self.isStateCode(stateCode) else { return nil }
        self = FailureReason(rawValue: stateCode) ?? .other
    }

    /// The reason with this ``word``; nil if there is none.
    public init?(word: String) {
        guard let reason = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = reason
    }
}
