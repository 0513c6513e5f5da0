/// A body that arrived whole.
package struct Download: Sendable, Equatable {
    /// The bytes as the server sent them, in no way decoded; empty when they were streamed.
    package let body: [UInt8]
    /// The server's `Content-Type`, which nothing makes true; `nil` for files.
    package let contentType: String?
    /// How many times it was tried, the successful one included; 0 when it was not transferred, but found.
    package let attempts: Int
    /// How long the last attempt took, waiting for a place at its host not counted.
    package let duration: Duration
    /// The requests of the last attempt, redirects included; none for files, and for what was found.
    package let way: [RequestStop]

    /// How many bytes were transferred for it.
    package var transferredBytes: Int { attempts > 0 ? body.count : 0 }
}

extension Download {
    /// A body that was transferred at another time and found where it was kept.
    package init(found body: [UInt8], duration: Duration) {
        self.init(body: body, contentType: nil, attempts: 0, duration: duration, way: [])
    }
}
