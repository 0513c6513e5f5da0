import DarkroomModel
import DarkroomStore

/// How much every worker may do at once, while it runs.
extension BatchController {
    /// Downloads at once that a limit may allow.
    package static let downloadLimits = ClusterControls.downloadLimits
    /// Filtrations at once that a limit may allow.
    package static let filtrationLimits = ClusterControls.filtrationLimits

    /// Limits what each worker of the cluster does at once; nil leaves a limit as it is. What runs goes on.
    package func setLimits(downloads: Int?, filtrations: Int?) throws {
        for (limit, bounds, name) in [
            (downloads, Self.downloadLimits, "downloads"), (filtrations, Self.filtrationLimits, "filtrations"),
        ] {
            guard let limit, !bounds.contains(limit) else { continue }
            throw ControlError(
                .outOfBounds,
                "limit of \(limit) \(name) at once: it can be \(bounds.lowerBound) to \(bounds.upperBound); to let none begin, "
                    + "suspend them")
        }
        _ = try steer(store.setLimits(downloads: downloads, filtrations: filtrations))
    }

    /// Takes the limits away: each worker does as much at once as it was started for.
    package func clearLimits() throws { _ = try steer(store.clearLimits()) }

    /// The limits and flags of the cluster.
    package func limits() throws -> ClusterControls { try store.clusterControls() }
}
