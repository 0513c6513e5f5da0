/// The information that the end of an attempt gives about its host.
enum HostSign: Equatable {
    /// The host has answered, perhaps with an error that concerns this photo alone. `after` is the time from the
    /// request to the first byte of the answer.
    case answered(after: Duration)
    /// The host wants fewer requests: the status is 429, or the status is 400 or above and the response has
    /// `Retry-After`. `retryAfter` is the time to wait; nil if it is not given.
    case refused(retryAfter: Duration?)
    /// The status is 503, without `Retry-After`. The host wants fewer requests, or it cannot serve this photo now.
    case unavailable
    /// The host did not answer in time, or refused or lost the connection.
    case silent
    /// The host sent the body too slowly.
    case slow
    /// The host began a response, but stopped sending before the end of the response.
    case stalled
    /// No information, for example because the attempt was cancelled.
    case none
}
