/// One record of a photo list: where it stands in the list, what it is called and where it lies.
public struct PhotoRecord: Sendable, Hashable {
    /// The position in the list, from 0.
    public let index: Int
    /// The name as the list has it, not yet made safe for a file system.
    public let name: String
    /// The URL as the list has it, which may be no URL at all.
    public let url: String

    /// A record of a list.
    public init(index: Int, name: String, url: String) {
        self.index = index
        self.name = name
        self.url = url
    }
}
