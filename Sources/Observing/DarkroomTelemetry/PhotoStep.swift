import DarkroomWorkerState

/// A step of a photo, with its times.
struct PhotoStep {
    enum Kind: String {
        /// From the claim to the first download attempt.
        case wait
        case download
        case filter
        case write
    }

    let kind: Kind
    let began: ContinuousClock.Instant
    let ended: ContinuousClock.Instant
}

extension FinishedPhoto {
    /// The steps of the photo in order, excluding the report. A step that the photo did not reach is missing.
    func steps(since claimed: ContinuousClock.Instant) -> [PhotoStep] {
        var steps: [PhotoStep] = []
        if let began = times.downloadBegan {
            steps.append(PhotoStep(kind: .wait, began: claimed, ended: began))
            steps.append(PhotoStep(kind: .download, began: began, ended: times.downloadEnded ?? ended))
        }
        if let began = times.filterBegan {
            steps.append(PhotoStep(kind: .filter, began: began, ended: times.writeBegan ?? ended))
        }
        if let began = times.writeBegan {
            steps.append(PhotoStep(kind: .write, began: began, ended: ended))
        }
        return steps
    }
}
