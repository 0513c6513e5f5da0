internal import CSystem
import Foundation

/// Threads for work that blocks, started as they are needed and kept: neither the system's pools, which have about as many
/// threads as cores, nor any task waits for it.
package final class ThreadPool: Sendable {
    private struct State {
        var jobs: ArraySlice<(@Sendable () -> Void)?> = []
        var threads = 0
        var idle = 0
        var isClosed = false

        /// Takes out the job that waits longest.
        mutating func next() -> (@Sendable () -> Void)? {
            guard let job = jobs.first else { return nil }
            // A slice keeps what was taken out until it is copied, and a job may hold much.
            jobs[jobs.startIndex] = nil
            jobs.removeFirst()
            return job
        }
    }

    private final class Queue: @unchecked Sendable {  // `state` is only touched while `condition` is locked
        let condition = NSCondition()
        var state = State()
    }

    private let queue = Queue()
    private let name: String
    private let maxThreads: Int
    private let threadBegan: @Sendable () -> Void
    private let threadEnds: @Sendable () -> Void

    /// A pool without threads yet.
    /// - Parameters:
    ///   - name: what its threads are called; the system keeps 15 bytes.
    ///   - maxThreads: how many jobs run at once; those beyond wait, in order.
    ///   - threadBegan: what each of its threads does first.
    ///   - threadEnds: what each of its threads does last.
    package init(
        _ name: String, maxThreads: Int, threadBegan: @escaping @Sendable () -> Void = {},
        threadEnds: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.maxThreads = maxThreads
        self.threadBegan = threadBegan
        self.threadEnds = threadEnds
    }

    deinit { close() }

    /// Runs `job` on a thread of the pool, as soon as one is free. Never blocks. After ``close()`` it does nothing.
    package func perform(_ job: @escaping @Sendable () -> Void) {
        queue.condition.lock()
        guard !queue.state.isClosed else { return queue.condition.unlock() }
        queue.state.jobs.append(job)
        // An idle thread that was woken and has not run yet still counts as idle, its job as waiting.
        let needsThread = queue.state.jobs.count > queue.state.idle && queue.state.threads < maxThreads
        if needsThread { queue.state.threads += 1 }
        queue.condition.signal()
        queue.condition.unlock()
        guard needsThread else { return }
        Thread { [queue, name, threadBegan, threadEnds] in
            // Foundation on Linux names a thread only after its start has returned, which may be later than this.
            csystem_name_thread(name)
            threadBegan()
            Self.work(queue)
            threadEnds()
        }.start()
    }

    /// Forgets the jobs that wait and lets the threads end; what a job hangs in is not waited for.
    package func close() {
        queue.condition.lock()
        queue.state.isClosed = true
        queue.state.jobs = []
        queue.condition.broadcast()
        queue.condition.unlock()
    }

    private static func work(_ queue: Queue) {
        queue.condition.lock()
        while !queue.state.isClosed {
            if let job = queue.state.next() {
                queue.condition.unlock()
                job()
                queue.condition.lock()
            } else {
                queue.state.idle += 1
                queue.condition.wait()
                queue.state.idle -= 1
            }
        }
        queue.condition.unlock()
    }
}
