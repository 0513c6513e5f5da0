/// A photo in its list.
public struct PhotoRecord: Sendable, Hashable {
    /// The position in the list, from 0.
    public let index: Int
    /// The name, not yet made safe for a file system.
    public let name: String
    /// The URL, which may be no valid URL.
    public let url: String

    /// A photo, for tests of a ``PhotoOperation``.
    public init(index: Int, name: String, url: String) {
        self.index = index
        self.name = name
        self.url = url
    }
}
