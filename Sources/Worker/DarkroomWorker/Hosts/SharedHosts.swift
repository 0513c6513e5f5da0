import DarkroomConcurrency
import DarkroomHosts
import DarkroomStore

/// Divides the permits of each host among all workers that use the host. The workers exchange data through Redis.
struct SharedHosts: HostExchange {
    private let coordination: Coordination
    /// Set when Redis has denied the script.
    private let isDenied = Latch()

    init(_ coordination: Coordination) { self.coordination = coordination }

    func share(_ uses: [HostUse], completion: @escaping @Sendable ([HostShare]?) -> Void) {
        let alone = Array(repeating: HostShare.alone, count: uses.count)
        guard !isDenied.isSet else { return completion(alone) }
        let call = coordination.store.shareHosts(worker: coordination.id, uses)
        coordination.store.send([call]) { [coordination, isDenied] results in
            switch results.first {
            case .success(let shares): completion(shares)
            case .failure(let error) where error.isOfPermissions:
                isDenied.set()
                coordination.logger.warning(
                    "hosts are not shared until this worker is started again: workers may send a host too many requests",
                    ["detail": .text(error)])
                completion(alone)
            // The heartbeat loop notices that Redis is unreachable.
            case .failure, nil: completion(nil)
            }
        }
    }
}
