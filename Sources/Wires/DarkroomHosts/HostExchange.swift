/// Shares hosts with other workers.
package protocol HostExchange: Sendable {
    /// Tells what this worker does with some hosts.
    /// - Parameter completion: called exactly once, on any thread, with a share for each host in the order of `uses`. Nil if
    ///   the other workers cannot be reached now.
    func share(_ uses: [HostUse], completion: @escaping @Sendable ([HostShare]?) -> Void)
}
