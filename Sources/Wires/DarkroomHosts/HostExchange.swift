/// Shares hosts with other workers.
package protocol HostExchange: Sendable {
    /// Tells the other workers how this worker uses some hosts, and requests the shares of these hosts.
    /// - Parameter completion: called exactly once, on any thread. Its argument contains a share for each host in the
    ///   order of `uses`, or is nil if the other workers cannot be reached now.
    func share(_ uses: [HostUse], completion: @escaping @Sendable ([HostShare]?) -> Void)
}
