import DarkroomRedis
import DarkroomStore

/// The consequence of a failed call for a feeder.
enum RedisFailure {
    /// The connection was lost or the server is not ready (loading, failing over): retry.
    case passing
    /// The server is out of memory: retry after workers have finished operations.
    case full
    /// A retry does not help.
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
