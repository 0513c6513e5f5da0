import DarkroomFiles

/// A completely received body.
package struct Download: Sendable, Equatable {
    /// The bytes of the body after its content codings are decoded; empty if the bytes were passed to `onChunk`.
    package let body: [UInt8]
    /// The number of attempts, including the successful one; 0 if the body came from a cache.
    package let attempts: Int
    /// The duration of the last attempt, excluding the wait in the host book.
    package let duration: Duration
    /// The requests of the last attempt, including redirects; empty for files and cached bodies.
    package let way: [RequestStop]
    /// The time of the last change, according to the server (`Last-Modified`) or the file system; nil if unknown.
    package var time: FileTime?

    package init(body: [UInt8], attempts: Int, duration: Duration, way: [RequestStop], time: FileTime?) {
        self.body = body
        self.attempts = attempts
        self.duration = duration
        self.way = way
        self.time = time
    }

    package var transferredBytes: Int { attempts > 0 ? body.count : 0 }
}

extension Download {
    package init(found body: [UInt8], duration: Duration, time: FileTime? = nil) {
        self.init(body: body, attempts: 0, duration: duration, way: [], time: time)
    }
}
