/// An event of a connection, for measurements.
package enum ConnectionObservation: Sendable {
    /// The server replied to all commands of a call after this time.
    case answered(Duration)
    /// The connection was established again.
    case reconnected
}
