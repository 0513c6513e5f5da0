/// Decides whether and when a transfer is tried again after a failure that concerns only this transfer. Refusals and
/// silence concern the host, see ``HostCondition``.
struct RetryPolicy {
    private let retries: Int
    private let time: Duration
    private let pauses: [Duration]

    init(_ configuration: TransferConfiguration) {
        retries = configuration.retries
        time = configuration.retryTime
        pauses = configuration.retryPauses
    }

    /// Whether the same request may succeed later.
    static func isPassing(_ code: TransferError.Code) -> Bool {
        switch code {
        case .nameNotFound, .connectFailed, .timeout, .stalled, .truncated, .httpServerError: true
        case .httpClientError(let status): [408, 425, 429].contains(status)
        default: false
        }
    }

    /// Whether the transfer may have another attempt.
    /// - Parameters:
    ///   - failures: the number of failures.
    ///   - passed: the time since the first failure.
    func allows(_ failures: Int, passed: Duration) -> Bool {
        failures <= retries && passed + longestPause(after: failures) <= time
    }

    /// The pause after a number of failures. The pause is shortened at random by up to half, so that failed transfers
    /// do not all begin at the same time.
    func pause(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        longestPause(after: failures) * Double.random(in: 0.5...1, using: &generator)
    }

    private func longestPause(after failures: Int) -> Duration {
        failures <= pauses.count ? pauses[failures - 1] : pauses.last ?? .zero
    }
}
