import Glibc
import Testing

/// Calls `condition` again and again until it is true, for changes that no signal reports: values in Redis, files, other
/// processes. The test fails and ends if the condition is not true after `limit`.
/// - Parameters:
///   - awaited: the awaited state, for the message.
///   - limit: far longer than the change takes on a busy machine.
package func waitUntil(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(60),
    at location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        try #require(.now < deadline, "not within \(limit): \(awaited())", sourceLocation: location)
        usleep(2000)  // a pause between two polls, which leaves the processor to the awaited process
    }
}
