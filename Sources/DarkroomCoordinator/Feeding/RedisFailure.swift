import DarkroomRedis
import DarkroomStore

/// What a failed call means for a feeder.
enum RedisFailure {
    /// The connection was lost or the server is not ready (loading, failing over): try again.
    case passing
    /// The server has no memory left: try again when workers have finished operations.
    case full
    /// Trying again does not help.
    case lasting

    init(_ error: any Error) {
        self =
            switch ((error as? StoreError)?.redis ?? error as? RedisError)?.outlook {
            case .passing: .passing
            case .full: .full
            case .lasting, nil: .lasting
            }
    }
}
