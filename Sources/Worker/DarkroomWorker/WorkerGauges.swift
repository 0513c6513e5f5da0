import DarkroomStore

/// The present load of a worker, for measurements.
package struct WorkerGauges: Sendable {
    /// The number of operations whose leases the worker renews.
    package let operationsHeld: Int
    package let downloadsRunning: Int
    package let filtrationsRunning: Int
    package let limits: (downloads: Int, filtrations: Int)
    /// The number of downloaded bytes in memory.
    package let bytesHeld: Int
    /// The number of photos that users cancelled while this worker was running them.
    package let photosCancelled: Int
    /// For each state, the number of known hosts in this state, and the number of photos that wait for these hosts.
    package let hosts: [(state: HostFacts.State, hosts: Int, photosWaiting: Int)]

    init(_ core: WorkerCore) {
        let (activity, limits, held, cancelled) = core.read {
            ($0.activity, $0.limits, $0.held.count, $0.photosCancelled)
        }
        operationsHeld = held
        downloadsRunning = activity.downloading
        filtrationsRunning = activity.filtering
        bytesHeld = activity.bytesHeld
        self.limits = limits
        photosCancelled = cancelled
        let states = core.engine.hosts.states
        hosts = HostFacts.State.allCases.map { state in
            let numbers = states[state.rawValue] ?? (0, 0)
            return (state, numbers.hosts, numbers.waiting)
        }
    }
}
