import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomExecution
@testable import DarkroomWorker

/// A worker checks the size of every reply of a helper process.
@Suite(.timeLimit(.minutes(1))) struct HelperAnswerTests {
    @Test(arguments: [
        (1, 1, true), (Int(Int32.max), 1, true), (0, 5, false), (5, -1, false), (Int.min, 5, false),
        (5, Int.max, false),
        (5, Int(Int32.max) + 1, false),
    ])
    func acceptsOnlyPositiveImageDimensionsWithinLimits(width: Int, height: Int, isPicture: Bool) {
        var answer = HelperAnswer()
        (answer.format, answer.width, answer.height) = ("png", width, height)
        #expect((answer.picture != nil) == isPicture)
        answer.format = "exe"
        #expect(answer.picture == nil)
    }

    @Test func truncatesDetailByUnicodeScalars() {
        // One `Character` with 5001 Unicode scalars.
        let long = "e" + String(repeating: "\u{301}", count: 5000)
        #expect(HelperAnswer.cut(long).unicodeScalars.count == 1000)
        #expect(HelperAnswer.cut("short") == "short")
    }

    @Test func rejectsATooLongMessageByItsLengthPrefix() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let (worker, helper) = (HelperChannel(descriptor: ends[0]), HelperChannel(descriptor: ends[1]))
        try [UInt8](repeating: 0, count: 101).withUnsafeBytes { bytes in
            try helper.send(HelperAnswer(detail: "x"), bytes)
        }
        let failure = expectError(HelperChannel.Failure.self) {
            _ = try worker.receive(HelperAnswer.self, maxBytes: 100)
        }
        #expect(failure == .malformed)

        var more: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &more) == 0)
        defer { for end in more { close(end) } }
        let prefix = [UInt8]([1, 0, 1, 0]) + [UInt8](repeating: 0, count: 8)  // length 64 KiB and one byte
        #expect(write(more[1], prefix, prefix.count) == prefix.count)
        let header = expectError(HelperChannel.Failure.self) {
            _ = try HelperChannel(descriptor: more[0]).receive(HelperAnswer.self, maxBytes: 100)
        }
        #expect(header == .malformed)
    }
}
