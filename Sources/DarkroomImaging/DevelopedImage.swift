internal import Glibc

/// The file that was made of a picture, in memory.
package struct DevelopedImage: Sendable {
    /// The format of the bytes.
    package let format: ImageFormat
    /// In pixels, turned upright.
    package let width: Int
    /// In pixels, turned upright.
    package let height: Int
    /// The size of the file.
    package var byteCount: Int { buffer.bytes.count }

    private let buffer: MallocedBuffer

    /// Takes over `bytes`, which were allocated with malloc.
    init(format: ImageFormat, width: Int, height: Int, bytes: UnsafeRawBufferPointer) {
        self.format = format
        self.width = width
        self.height = height
        buffer = MallocedBuffer(bytes)
    }

    /// Gives the file's bytes; the pointer is good only until `body` returns.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(buffer) { () throws(Failure) in try body(buffer.bytes) }
    }
}

/// Owns memory of malloc. Unchecked: nothing writes to it after `init`.
private final class MallocedBuffer: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    deinit {
        free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
