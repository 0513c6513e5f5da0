/// A photo in a list.
public struct PhotoRecord: Sendable, Hashable {
    /// The position in the list, from 0.
    public let index: Int
    /// The name in the list, which may be unsafe as a file name.
    public let name: String
    /// The URL in the list, which may be invalid.
    public let url: String

    /// Creates a photo, for tests of a ``CustomFilter``.
    public init(index: Int, name: String, url: String) {
        self.index = index
        self.name = name
        self.url = url
    }
}
