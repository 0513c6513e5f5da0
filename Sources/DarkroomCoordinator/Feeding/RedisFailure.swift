import DarkroomRedis
import DarkroomStore

/// What a failed call means for a feeder.
enum RedisFailure {
    /// The connection was lost or the server is not ready (loading, failing over): try again.
    case passing
    /// The server has no memory left: try again when workers have drained it.
    case full
    /// Trying again does not help.
    case lasting

    init(_ error: any Error) {
        guard let redis = (error as? StoreError)?.redis ?? error as? RedisError else {
            self = .lasting
            return
        }
        switch redis.code {
        case .cannotConnect, .disconnected, .timedOut: self = .passing
        case .server where redis.serverErrorName == "OOM": self = .full
        case .server where Self.passingErrors.contains(redis.serverErrorName ?? ""): self = .passing
        default: self = .lasting
        }
    }

    /// Errors of a server that starts, fails over, or cannot write its append-only file for now.
    private static let passingErrors: Set = [
        "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "MISCONF", "BUSY",
    ]
}
