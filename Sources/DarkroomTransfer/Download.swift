/// A body that arrived whole.
public struct Download: Sendable, Equatable {
    /// The bytes as the server sent them, in no way decoded; empty when they were streamed.
    public let body: [UInt8]
    /// The server's `Content-Type`, which nothing makes true; `nil` for files.
    public let contentType: String?
    /// How many times it was tried, the successful one included.
    public let attempts: Int
    /// How long the last attempt took, waiting for a place at its host not counted.
    public let duration: Duration
}
