/// What the end of an attempt tells about its host.
enum HostSign: Equatable {
    /// The host has answered, also with an error that concerns this photo alone. The time from the request to the first
    /// byte of its answer.
    case answered(after: Duration)
    /// The host wants fewer requests: 429, or any status from 400 on that tells how long to wait. `retryAfter` is this
    /// time, if it was given.
    case refused(retryAfter: Duration?)
    /// 503 without a time to wait. The host wants fewer requests, or it cannot serve this photo now.
    case unavailable
    /// The host did not answer in time, or refused or lost the connection.
    case silent
    /// The host sent the body too slowly.
    case slow
    /// The host began a response, then sent nothing more.
    case stalled
    /// Nothing, for example because the attempt was cancelled.
    case none
}
