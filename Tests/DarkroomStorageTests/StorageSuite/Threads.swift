import DarkroomConcurrency
import Foundation

/// Runs `body` on threads at the same time, and waits for all of them. `concurrentPerform` uses only as many threads as
/// there are processors.
/// - Parameter body: returns a problem, or nil. Issues that a thread records belong to no test.
/// - Returns: the problems.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> String?) -> [String] {
    let group = DispatchGroup()
    let problems = Locked<[String]>([])
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            if let problem = body(number) { problems.withLock { $0.append(problem) } }
            group.leave()
        }
    }
    group.wait()
    return problems.withLock { $0 }
}
