/// Commands that were sent together and are answered together.
///
/// Handed over to the connection's thread through its mailbox; from then on only that thread touches it.
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

    /// Takes the result of one command; with the last one the call is complete.
    func answer(_ index: Int, _ result: Result<RedisValue, RedisError>) {
        results[index] = result
        unanswered -= 1
        if unanswered == 0 { completion(results) }
    }
}

/// A run of commands of one call: those not sent yet, or those not answered yet.
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
