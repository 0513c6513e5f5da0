import DarkroomModel
import DarkroomStore

/// Calls that limit the concurrent work of each running worker.
extension BatchController {
    /// The bounds of the limit of concurrent downloads.
    package static let downloadLimits = ClusterControls.downloadLimits
    /// The bounds of the limit of concurrent filtrations.
    package static let filtrationLimits = ClusterControls.filtrationLimits

    /// Sets the limits of each worker; nil leaves a limit unchanged. Running downloads and filtrations are completed.
    package func setLimits(downloads: Int?, filtrations: Int?) throws {
        for (limit, bounds, name) in [
            (downloads, Self.downloadLimits, "downloads"), (filtrations, Self.filtrationLimits, "filtrations"),
        ] {
            guard let limit, !bounds.contains(limit) else { continue }
            throw ControlError(
                .outOfBounds,
                "limit of \(limit) \(name) at once: it can be \(bounds.lowerBound) to \(bounds.upperBound); to stop new ones, "
                    + "suspend them")
        }
        _ = try performChange(store.setLimits(downloads: downloads, filtrations: filtrations))
    }

    /// Removes the limits, so that each worker uses the limits with which it was started.
    package func clearLimits() throws { _ = try performChange(store.clearLimits()) }

    /// The limits and flags of the cluster.
    package func limits() throws -> ClusterControls { try store.clusterControls() }
}
