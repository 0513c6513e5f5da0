import DarkroomModel

package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are read.
    package var isRecursive = false
    /// A subfolder to skip in a folder of photos, because it is the output folder.
    package var except: String?
    package var columns = ListColumns()
    /// Whether the address of a list on the web may be private. A redirect never leads to a private address from another.
    package var mayBePrivate = true

    package init() {}
}
