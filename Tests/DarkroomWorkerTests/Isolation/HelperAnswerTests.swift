import DarkroomImaging
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomWorker

/// A worker checks the size of every reply of a helper process.
@Suite(.timeLimit(.minutes(5))) struct HelperAnswerTests {
    @Test(arguments: [
        (1, 1, true), (Int(Int32.max), 1, true), (0, 5, false), (5, -1, false), (Int.min, 5, false),
        (5, Int.max, false),
        (5, Int(Int32.max) + 1, false),
    ])
    func acceptsOnlyPositiveImageDimensionsWithinLimits(width: Int, height: Int, isPicture: Bool) {
        var file = HelperAnswer.File(format: "png", width: width, height: height, bytes: 1)
        #expect((HelperAnswer(files: [file]).products([7], count: 1) != nil) == isPicture)
        file.format = "exe"
        #expect(HelperAnswer(files: [file]).products([7], count: 1) == nil)
    }

    @Test(arguments: [
        ([1, 2], 2, true), ([3, 0], 2, true), ([3], 1, true), ([3], 2, false), ([1, 1, 1], 2, false),
        ([1, 3], 2, false),
        ([4, -1], 2, false), ([1, 1], 2, false), ([Int.max, 3], 2, false), ([Int.min, 3], 2, false),
    ])
    func acceptsOnlyFilesThatFillTheBytes(sizes: [Int], count: Int, isValid: Bool) {
        let files = sizes.map { HelperAnswer.File(format: "jpeg", width: 1, height: 1, bytes: $0) }
        let products = HelperAnswer(files: files).products([1, 2, 3], count: count)
        #expect((products != nil) == isValid)
        if let products { #expect(products.flatMap(\.bytes) == [1, 2, 3] && products.map(\.byteCount) == sizes) }
    }

    @Test func truncatesDetailByUnicodeScalars() {
        // One `Character` with 5001 Unicode scalars.
        let long = "e" + String(repeating: "\u{301}", count: 5000)
        #expect(HelperAnswer.cut(long).unicodeScalars.count == 1000)
        #expect(HelperAnswer.cut("short") == "short")
    }

    /// The limit for all files does not grow with the number of renditions.
    @Test(arguments: [1, 2, 64]) func allFilesTogetherHaveALimit(renditions: Int) {
        let helpers = PhotoHelpers(arguments: [], variables: [], photoTimeout: .seconds(1), maxPixels: 100_000_000)
        let options = DevelopOptions(outputs: Array(repeating: ImageOutput(filters: []), count: renditions))
        let allowance = helpers.allowance(for: options, [1, 2, 3])
        let largest = HelperLimits.fileBytes(of: 3, pixels: 100_000_000)
        #expect(allowance.bytes(0) == 0 && allowance.bytes(100_000_000) == largest)
        #expect(allowance.bytes(1000) == min(renditions * HelperLimits.fileBytes(of: 3, pixels: 1000), largest))
    }

    /// No machine can allocate the announced bytes.
    @Test func announcedBytesAreAllocatedWhenTheyArrive() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        let header = Array("{}".utf8)
        let announced = withUnsafeBytes(of: (UInt64(1) << 46).littleEndian) { Array($0) }
        let message: [UInt8] = [UInt8(header.count), 0, 0, 0] + announced + header + [1, 2, 3]
        #expect(write(ends[1], message, message.count) == message.count)
        close(ends[1])
        let failure = expectError(HelperChannel.Failure.self) {
            _ = try HelperChannel(descriptor: ends[0]).receive(HelperAnswer.self, maxBytes: .max)
        }
        #expect(failure == .closed)
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
