import DarkroomFiles

/// A file that a worker has made of a photo, and that is not stored yet.
package struct MadeFile {
    /// The file name extension, without a dot.
    package let ending: String
    /// The width in pixels; nil if the file may be something other than a picture.
    package let width: Int?
    package let height: Int?
    package let byteCount: Int
    /// The time stamp of the file; nil for the current time.
    package let time: FileTime?
    /// Calls its argument with the bytes.
    package let withBytes: ((UnsafeRawBufferPointer) throws(SystemFailure) -> Void) throws(SystemFailure) -> Void

    package init(
        ending: String, width: Int?, height: Int?, byteCount: Int, time: FileTime? = nil,
        withBytes: @escaping ((UnsafeRawBufferPointer) throws(SystemFailure) -> Void) throws(SystemFailure) -> Void
    ) {
        self.ending = ending
        self.width = width
        self.height = height
        self.byteCount = byteCount
        self.time = time
        self.withBytes = withBytes
    }

    /// A file with bytes in memory.
    package init(_ bytes: [UInt8], ending: String, time: FileTime? = nil) {
        self.init(ending: ending, width: nil, height: nil, byteCount: bytes.count, time: time) {
            write throws(SystemFailure) in
            try bytes.withUnsafeBytes { buffer in Result { () throws(SystemFailure) in try write(buffer) } }.get()
        }
    }
}
