import DarkroomModel

package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are read.
    package var isRecursive = false
    /// A subfolder to skip in a folder of photos: the output folder.
    package var except: String?
    package var columns = ListColumns()

    package init() {}
}
