/// An event of a connection, for measurements.
package enum ConnectionObservation: Sendable {
    /// The server replied to all commands of a call. The duration is the time from the call to the last reply.
    case answered(Duration)
    /// The connection was established again.
    case reconnected
}
