/// Where a photo is. Filtered, failed and cancelled are final: only a retry changes them.
public enum PhotoState: Sendable, Hashable {
    /// Nothing was done yet, or what was done was dropped.
    case new
    /// It is downloaded.
    case downloaded
    /// It was filtered and written.
    case filtered
    /// It was cancelled.
    case cancelled
    /// It failed.
    case failed(FailureReason)

    /// The state code that stands for this state in a batch's `states` string: `N`, `D`, `F`, `C` or the reason's small letter.
    package var stateCode: UInt8 {
        switch self {
        case .new: 78
        case .downloaded: 68
        case .filtered: 70
        case .cancelled: 67
        case .failed(let reason): reason.stateCode
        }
    }

    /// The state of a state code, nil if it is the code of no state.
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

    /// True if only a retry changes it.
    public var isFinal: Bool { self != .new && self != .downloaded }

    /// The word for this state in the command line, in JSON and in manifests; the reason is a word of its own.
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
