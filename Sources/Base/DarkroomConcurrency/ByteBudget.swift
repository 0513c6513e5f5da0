import Foundation

/// Bounds the bytes that several threads hold at the same time.
package final class ByteBudget: @unchecked Sendable {  // `held` is used only while `condition` is locked
    private let condition = NSCondition()
    private let most: Int
    private var held = 0

    package init(_ most: Int) { self.most = most }

    /// Blocks until the budget has room for `count` more bytes, and then calls `body`. If `count` is larger than the
    /// budget, blocks until no other thread holds bytes.
    package func withBytes<Result>(_ count: Int, _ body: () throws -> Result) rethrows -> Result {
        condition.lock()
        while held > 0, held + count > most { condition.wait() }
        held += count
        condition.unlock()
        defer {
            condition.lock()
            held -= count
            condition.unlock()
            condition.broadcast()
        }
        return try body()
    }
}
