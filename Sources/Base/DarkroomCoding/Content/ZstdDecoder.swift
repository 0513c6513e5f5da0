internal import CZstd

/// Decodes `zstd` with any number of frames (RFC 8878). The window has at most 8 MiB (RFC 9659).
final class ZstdDecoder: StreamDecoder {
    private static let mostWindowBits: Int32 = 23

    private let stream: OpaquePointer
    /// Whether the input that was read so far ends with a complete frame.
    private(set) var isFinished = false
    private var isEnded = false

    init() throws(CodingError) {
        guard let stream = ZSTD_createDStream() else { throw .noMemory }
        self.stream = stream
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.mostWindowBits)
    }

    deinit { ZSTD_freeDStream(stream) }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> (read: Int, written: Int) {
        if isEnded { return (input.count, 0) }
        // If there is no input, `ZSTD_decompressStream` would begin the next frame.
        if isFinished, input.isEmpty { return (0, 0) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(stream, &target, &source)
        if ZSTD_isError(result) != 0 {
            if isFinished {  // padding after the last frame
                isEnded = true
                return (input.count, 0)
            }
            if ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation { throw .noMemory }
            throw CodingError(code: .damaged, message: "is damaged (\(String(cString: ZSTD_getErrorName(result))))")
        }
        isFinished = result == 0
        return (source.pos, target.pos)
    }
}
