import DarkroomModel
import DarkroomText
import Foundation

/// The answer of a `stream` command to a photo.
enum StreamAnswer {
    case result([UInt8])
    case error(String)
}

/// Reads an answer: `{"photo":P,"bytes":N}`, a line feed and N bytes, or `{"photo":P,"error":"text"}` and a line feed. P is
/// the number of the photo, so that a surplus answer does not count as the answer for the next photo.
struct StreamAnswerReader {
    private struct Header: Decodable {
        var photo: Int?
        var bytes: Int?
        var error: String?
    }

    /// The answer; nil until it is complete.
    private(set) var answer: StreamAnswer?
    private var line: [UInt8] = []
    private var bytes: [UInt8] = []
    /// The number of bytes after the line; nil until the line is complete.
    private var count: Int?
    private let photo: Int
    private let maxBytes: Int

    /// The longest line in bytes.
    private static let maxLineBytes = 64 << 10

    /// - Parameters:
    ///   - photo: the number of the photo.
    ///   - maxBytes: the largest number of bytes after the line.
    init(photo: Int, maxBytes: Int) {
        self.photo = photo
        self.maxBytes = maxBytes
    }

    /// - Throws: `invalid` if the bytes are not an answer, or if bytes follow the answer.
    mutating func receive(_ received: UnsafeRawBufferPointer) throws(RunningCommand.Stop) {
        var rest = received[...]
        if count == nil, answer == nil {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            line += rest[..<(end ?? rest.endIndex)]
            guard line.count <= Self.maxLineBytes else { throw .invalid("the line of its answer is too long") }
            guard let end else { return }
            rest = rest[(end + 1)...]
            try readLine()
        }
        let missing = answer == nil ? (count ?? 0) - bytes.count : 0
        guard rest.count <= missing else { throw .invalid("it printed more than its answer") }
        bytes += rest
        if answer == nil, bytes.count == count { answer = .result(bytes) }
    }

    private mutating func readLine() throws(RunningCommand.Stop) {
        // The error of the decoder is dropped, because the start of the line tells the author of the command more.
        guard let header = try? UntrustedJSON().decode(Header.self, from: line) else {
            let start = PrintableText.line(String(decoding: line.prefix(80), as: UTF8.self))
            throw .invalid("its answer is not a JSON object with \"bytes\" or \"error\": \(start)")
        }
        guard header.photo == photo else {
            let found = header.photo.map { "is for photo \($0)" } ?? "has no number \"photo\""
            throw .invalid("its answer \(found), expected is \(photo)")
        }
        if let error = header.error {
            answer = .error(error)
        } else if let bytes = header.bytes, (1...maxBytes).contains(bytes) {
            count = bytes
            self.bytes.reserveCapacity(bytes)
        } else if let bytes = header.bytes {
            throw .invalid("its answer has \(bytes) bytes, allowed are 1 to \(maxBytes)")
        } else {
            throw .invalid("its answer has neither \"bytes\" nor \"error\"")
        }
    }
}
