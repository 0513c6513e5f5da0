import Dispatch

/// Computes results on several threads, and passes them on in order.
package enum OrderedResults {
    /// A result that one thread sets and another thread takes.
    private final class Slot<Result: Sendable>: Sendable {
        private let result = Locked<Result?>(nil)
        private let isSet = DispatchSemaphore(value: 0)

        func set(_ result: Result) {
            self.result.withLock { $0 = result }
            isSet.signal()
        }

        /// Blocks until the result is set.
        func take() -> Result? {
            isSet.wait()
            return result.exchange(nil)
        }
    }

    /// Computes a result for each number from 0 to `count` - 1, and passes the results to `receive` on the calling
    /// thread, in the order of the numbers. Blocks until all results are passed on.
    ///
    /// At most 2 × `threads` results are being computed or wait for `receive`. Therefore the memory is bounded even if
    /// the first result takes long.
    package static func forEach<Result: Sendable>(
        count: Int, threads: Int, name: String, compute: @escaping @Sendable (Int) -> Result,
        receive: (Int, Result) throws -> Void
    ) rethrows {
        let pool = ThreadPool(name, maxThreads: threads)
        defer { pool.close() }
        var slots: ArraySlice<Slot<Result>> = []
        for number in 0..<count {
            while slots.endIndex < min(count, number + 2 * threads) {
                let (slot, next) = (Slot<Result>(), slots.endIndex)
                slots.append(slot)
                pool.perform { slot.set(compute(next)) }
            }
            if let result = slots.removeFirst().take() { try receive(number, result) }
        }
    }
}
