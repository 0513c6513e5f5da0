/// Decodes one coding of a body, part by part.
protocol StreamDecoder: AnyObject {
    /// Whether the coded data is complete if no further input follows.
    var isFinished: Bool { get }

    /// Decodes as much of `input` as fits into `output`. Bytes after the end of the coded data are read and ignored. If
    /// nothing is read and nothing is written, the decoder needs more input.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> (read: Int, written: Int)
}

/// Passes on a body that does not have the coding that the server has named.
final class PlainDecoder: StreamDecoder {
    let isFinished = true

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (read: Int, written: Int) {
        let count = min(input.count, output.count)
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        return (count, count)
    }
}

extension CodingError {
    static let noMemory = CodingError(code: .outOfMemory, message: "cannot be decoded without more memory")
}
