/// Commands that are sent as one pipeline and completed together.
///
/// `@unchecked Sendable`: the caller posts the call to the connection's mailbox; after that, only the connection's
/// thread uses it.
final class RedisCall: @unchecked Sendable {
    let commands: [RedisCommand]

    private var results: [Result<RedisValue, RedisError>]
    private var unanswered: Int
    private let completion: @Sendable ([Result<RedisValue, RedisError>]) -> Void

    init(
        _ commands: [RedisCommand], completion: @escaping @Sendable ([Result<RedisValue, RedisError>]) -> Void
    ) {
        self.commands = commands
        self.completion = completion
        results = Array(repeating: .success(.null), count: commands.count)
        unanswered = commands.count
    }

    /// Stores the result of one command. The last result completes the call.
    func answer(_ index: Int, _ result: Result<RedisValue, RedisError>) {
        results[index] = result
        unanswered -= 1
        if unanswered == 0 { completion(results) }
    }
}

/// Consecutive commands of one call. Either all of them are unsent, or all of them wait for replies.
struct PartOfCall {
    let call: RedisCall
    var next: Int
    let end: Int

    init(_ call: RedisCall, _ range: Range<Int>) {
        self.call = call
        next = range.lowerBound
        end = range.upperBound
    }

    func fail(_ error: RedisError) {
        for index in next..<end { call.answer(index, .failure(error)) }
    }
}
