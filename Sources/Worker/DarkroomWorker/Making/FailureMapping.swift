import DarkroomImaging
import DarkroomModel
import DarkroomTransfer

extension FailureReason {
    /// Creates the failure reason of a transfer error; nil if the transfer was cancelled.
    package init?(_ error: TransferError) {
        switch error.code {
        case .cancelled: return nil
        case .notAURL: self = .notAURL
        case .schemeDenied: self = .schemeDenied
        case .addressDenied: self = .addressDenied
        case .nameNotFound: self = .nameNotFound
        case .connectFailed: self = .connectFailed
        case .tlsFailed: self = .tlsFailed
        case .timeout: self = .timeout
        case .stalled: self = .stalled
        case .httpClientError: self = .httpClientError
        case .httpServerError: self = .httpServerError
        case .tooManyRedirects: self = .tooManyRedirects
        case .tooLarge: self = .tooLarge
        case .truncated: self = .truncated
        case .damagedCoding: self = .damaged
        case .fileDenied: self = .fileDenied
        case .fileNotFound: self = .fileNotFound
        case .outOfMemory: self = .outOfMemory
        case .cannotKeep(let isFull): self = isFull ? .diskFull : .outputDenied
        case .hostUnreachable: self = .hostUnreachable
        case .hostRefuses: self = .hostRefuses
        case .hostTooSlow: self = .hostTooSlow
        case .optedOut: self = .optedOut
        case .other: self = .other
        }
    }

    /// Creates the failure reason of an imaging error; nil if the photo was cancelled.
    package init?(_ error: ImagingError) {
        switch error.code {
        case .notAnImage: self = .notAnImage
        case .unsupportedFormat: self = .unsupportedFormat
        case .damaged: self = .damaged
        case .tooManyPixels: self = .tooManyPixels
        case .outOfMemory: self = .outOfMemory
        case .filterFailed: self = .filterFailed
        case .timedOut: self = .filterTimeout
        case .cancelled: return nil
        }
    }
}

extension DamageLevel {
    /// The level for an option of a batch.
    package init(_ option: DamagedPhotos) {
        switch option {
        case .fail: self = .fail
        case .tolerate: self = .tolerate
        case .accept: self = .accept
        }
    }
}
