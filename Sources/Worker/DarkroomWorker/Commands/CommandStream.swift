import DarkroomConcurrency
import DarkroomModel
import Foundation

/// A kept command of the style `stream`, which gets photos one after the other. Used by one thread at a time.
final class CommandStream: PooledProcess, @unchecked Sendable {  // used by one thread at a time, see `FilterCommand`
    let command: RunningCommand
    /// The number of photos for which the command has sent an answer.
    private(set) var photos = 0

    init(_ command: RunningCommand) { self.command = command }

    var isUsable: Bool { command.isIdle }

    func end() { command.stop() }

    /// Passes a photo to the command. Blocks until the answer of the command is complete, or the command has ended.
    /// - Returns: the answer; nil if the command ended before the answer was complete.
    func develop(
        _ photo: CommandPhoto, _ limits: CommandLimits, isCancelled: () -> Bool
    ) throws(RunningCommand.Stop) -> StreamAnswer? {
        let number = photos + 1
        var reader = StreamAnswerReader(photo: number, maxBytes: limits.resultBytes)
        var hasPrinted = photos > 0
        do throws(RunningCommand.Stop) {
            try command.exchange(
                [photo.header(number: number), photo.bytes], closesInput: false,
                within: RunningCommand.Allowance(time: limits.time, processorTime: limits.processorTime),
                isCancelled: isCancelled
            ) { bytes throws(RunningCommand.Stop) in
                hasPrinted = true
                try reader.receive(bytes)
                return reader.answer != nil
            }
        } catch {
            guard case .late(let limit) = error, !hasPrinted else { throw error }
            throw .late(
                "\(limit); it has printed no line of JSON: a program that reads to the end of its input needs "
                    + "the style \"process\" of custom filters")
        }
        if reader.answer != nil { photos += 1 }
        return reader.answer
    }
}
