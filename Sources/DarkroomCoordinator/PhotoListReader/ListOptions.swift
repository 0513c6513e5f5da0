import DarkroomModel

/// How a photo list is read, besides what its bytes say.
public struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are looked into.
    public var isRecursive = false
    /// A subfolder to leave out of a folder of photos: the output folder.
    public var except: String?
    /// The columns of a table.
    public var columns = ListColumns()

    /// The defaults.
    public init() {}
}
