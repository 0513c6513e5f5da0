internal import CImaging
import DarkroomRecipes
internal import Glibc

/// An encoded picture in memory.
package struct ImageFile: Sendable {
    package let format: ImageFormat
    /// The width in pixels, after the rotation to upright.
    package let width: Int
    /// The height in pixels, after the rotation to upright.
    package let height: Int
    /// Whether the photo has a gain map, and this file does not.
    package internal(set) var lostGainMap = false
    package var byteCount: Int { buffer.bytes.count }
    /// The tolerated defects of the photo; nil if there are none.
    package var note: String?

    private let buffer: MallocedBuffer

    /// Takes ownership of `bytes`, which must have been allocated with malloc.
    init(format: ImageFormat, width: Int, height: Int, bytes: UnsafeRawBufferPointer) {
        self.format = format
        self.width = width
        self.height = height
        buffer = MallocedBuffer(bytes)
    }

    /// Returns nil if memory runs out.
    init?(format: ImageFormat, width: Int, height: Int, copying bytes: UnsafeRawBufferPointer) {
        guard let memory = malloc(bytes.count) else { return nil }
        let copy = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count)
        copy.copyMemory(from: bytes)
        self.init(format: format, width: width, height: height, bytes: UnsafeRawBufferPointer(copy))
    }

    /// Takes ownership of the bytes of the file.
    init(_ file: darkroom_file) {
        self.init(
            format: ImageFormat(file.format), width: Int(file.width), height: Int(file.height),
            bytes: UnsafeRawBufferPointer(start: file.bytes, count: file.byte_count))
    }

    /// Calls `body` with the bytes of the file. The pointer is valid only until `body` returns.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(buffer) { () throws(Failure) in try body(buffer.bytes) }
    }
}

/// Owns memory that was allocated with malloc. `@unchecked Sendable`: nothing writes to the memory after `init`.
private final class MallocedBuffer: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
}
