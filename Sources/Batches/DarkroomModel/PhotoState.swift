/// The state of a photo. Filtered, failed and cancelled are final states: only a retry changes them.
public enum PhotoState: Sendable, Hashable {
    /// The photo has no result yet, or its result was discarded.
    case new
    /// The photo is downloaded.
    case downloaded
    /// The photo was filtered and written.
    case filtered
    /// The photo was cancelled.
    case cancelled
    /// The photo failed.
    case failed(FailureReason)

    /// The state code in the `states` string of a batch: `N`, `D`, `F`, `C`, or the code of the failure reason.
    package var stateCode: UInt8 {
        switch self {
        case .new: 78
        case .downloaded: 68
        case .filtered: 70
        case .cancelled: 67
        case .failed(let reason): reason.stateCode
        }
    }

    /// The state with this state code; nil if the code is invalid.
    package init?(stateCode: UInt8) {
        switch stateCode {
        case 78: self = .new
        case 68: self = .downloaded
        case 70: self = .filtered
        case 67: self = .cancelled
        default:
            guard let reason = FailureReason(stateCode: stateCode) else { return nil }
            self = .failed(reason)
        }
    }

    /// State codes as text, for JSON. Each state code becomes the character with the same code point.
    package static func text(ofStateCodes codes: some Sequence<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: codes.lazy.map { Unicode.Scalar($0) })
        return String(scalars)
    }

    /// The state whose state code is this text, see ``text(ofStateCodes:)``; nil if the text is not a valid state code.
    package init?(stateCodeText text: String) {
        let scalars = text.unicodeScalars
        guard scalars.count == 1, let code = scalars.first.flatMap({ UInt8(exactly: $0.value) }) else { return nil }
        self.init(stateCode: code)
    }

    /// True if only a retry can change the state.
    public var isFinal: Bool { self != .new && self != .downloaded }

    /// The word for this state on the command line, in JSON and in manifests. ``FailureReason/word`` is the word for a
    /// failure reason.
    public var word: String {
        switch self {
        case .new: "new"
        case .downloaded: "downloaded"
        case .filtered: "filtered"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }
}
