import DarkroomModel

/// Whether and why the photos of a batch or of an operation are held. If several reasons apply, the case that is
/// declared last counts.
enum Hold: Equatable {
    case none
    /// A user has suspended the batch or the cluster, or only its downloads or filtrations.
    case suspended(QueuePart)
    case storageUnavailable
    /// Only operations with photos in the focus of the batch may run, and the operation contains none of these photos.
    case outsideFocus
    /// The worker is about to release the operation.
    case releasing
    case cancelled

    /// The hold that applies to all photos of a batch.
    init(_ controls: BatchControls, _ cluster: ClusterControls, isStorageBlocked: Bool) {
        let isSuspended = controls.isSuspended || cluster.isSuspended
        let downloads = isSuspended || controls.areDownloadsSuspended || cluster.areDownloadsSuspended
        let filters = isSuspended || controls.areFiltrationsSuspended || cluster.areFiltrationsSuspended
        self =
            if controls.isCancelled {
                .cancelled
            } else if isStorageBlocked {
                .storageUnavailable
            } else if downloads, filters {
                .suspended(.everything)
            } else if downloads {
                .suspended(.downloads)
            } else if filters {
                .suspended(.filtrations)
            } else {
                .none
            }
    }

    var allowsDownloads: Bool { self == .none || self == .suspended(.filtrations) }

    var allowsFilters: Bool { self == .none || self == .suspended(.downloads) }

    /// Combines the hold of a batch with the hold of one of its operations.
    func with(_ operation: Hold) -> Hold { self == .cancelled || operation == .none ? self : operation }
}
