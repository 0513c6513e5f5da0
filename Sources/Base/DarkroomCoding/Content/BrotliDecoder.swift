internal import CBrotli

/// Decodes `br` (RFC 7932). The window has at most 16 MiB.
final class BrotliDecoder: StreamDecoder {
    private let state: OpaquePointer

    init() throws(CodingError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .noMemory }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    var isFinished: Bool { BrotliDecoderIsFinished(state) != 0 }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> (read: Int, written: Int) {
        guard !isFinished else { return (input.count, 0) }
        var (inputLeft, outputLeft) = (input.count, output.count)
        var nextInput = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var nextOutput = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(state, &inputLeft, &nextInput, &outputLeft, &nextOutput, nil)
        if result == BROTLI_DECODER_RESULT_ERROR {
            let code = BrotliDecoderGetErrorCode(state)
            // The codes of failed allocations are -21 to -30 (brotli/decode.h).
            if (-30...(-21)).contains(code.rawValue) { throw .noMemory }
            let reason = BrotliDecoderErrorString(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
            throw CodingError(code: .damaged, message: "is damaged (\(reason))")
        }
        return (input.count - inputLeft, output.count - outputLeft)
    }
}
