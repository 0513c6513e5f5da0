internal import CSystem
import Foundation

/// Threads for blocking work, started when needed and reused. Blocking work must not run in the thread pools of the
/// system and of Swift concurrency, which have only about as many threads as the machine has cores.
package final class ThreadPool: Sendable {
    private struct State {
        var jobs: ArraySlice<(@Sendable () -> Void)?> = []
        var threads = 0
        var idle = 0
        var isClosed = false

        mutating func next() -> (@Sendable () -> Void)? {
            guard let job = jobs.first else { return nil }
            // An ArraySlice keeps an element after `removeFirst`. A job may hold much memory, so the element is set to
            // nil first.
            jobs[jobs.startIndex] = nil
            jobs.removeFirst()
            return job
        }
    }

    private final class Queue: @unchecked Sendable {  // `state` is used only while `condition` is locked
        let condition = NSCondition()
        var state = State()
    }

    private let queue = Queue()
    private let name: String
    private let maxThreads: Int
    private let threadBegan: @Sendable () -> Void
    private let threadEnds: @Sendable () -> Void

    /// Creates a pool without threads.
    /// - Parameters:
    ///   - name: The name of the pool's threads; the system uses the first 15 bytes.
    ///   - maxThreads: The maximum number of jobs that run at a time. Further jobs wait, in order.
    ///   - threadBegan: Called on each thread before its first job.
    ///   - threadEnds: Called on each thread after its last job.
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

    /// Runs `job` as soon as a thread of the pool is free. Does not block. After ``close()``, does nothing.
    package func perform(_ job: @escaping @Sendable () -> Void) {
        queue.condition.lock()
        guard !queue.state.isClosed else { return queue.condition.unlock() }
        queue.state.jobs.append(job)
        // `idle` still counts a thread that was woken but has not run yet, and `jobs` still contains its job.
        let needsThread = queue.state.jobs.count > queue.state.idle && queue.state.threads < maxThreads
        if needsThread { queue.state.threads += 1 }
        queue.condition.signal()
        queue.condition.unlock()
        guard needsThread else { return }
        Thread { [queue, name, threadBegan, threadEnds] in
            // On Linux, Foundation sets a thread's name after `start` has returned, which may be too late.
            csystem_name_thread(name)
            threadBegan()
            Self.work(queue)
            threadEnds()
        }.start()
    }

    /// Discards the waiting jobs, and lets the threads end. Does not wait for jobs that are running.
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
