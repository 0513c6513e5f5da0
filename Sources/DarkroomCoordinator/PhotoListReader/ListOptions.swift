import DarkroomModel

/// How a photo list is read, besides what its bytes say.
package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are looked into.
    package var isRecursive = false
    /// A subfolder to leave out of a folder of photos: the output folder.
    package var except: String?
    /// The columns of a table.
    package var columns = ListColumns()

    /// The defaults.
    package init() {}
}
