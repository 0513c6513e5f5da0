import DarkroomModel

package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are read.
    package var isRecursive = false
    /// A subfolder to skip in a folder of photos, because it is the output folder.
    package var except: String?
    package var columns = ListColumns()
    /// Whether the address of a list on the web may be private. A redirect never leads to a private address from another.
    package var mayBePrivate = true
    /// The limits for a list on the web; nil for none.
    package var webLimits: WebListLimits?

    package init() {}
}

/// Limits for the list of somebody who is not trusted.
package struct WebListLimits: Sendable {
    /// How long the reader may wait for the server, in addition to the time at the slowest rate.
    package var patience = Duration.seconds(10)
    package var slowestBytesPerSecond = 16_384
    /// Whether the list is no longer wanted. Asked once a second while the reader waits, and after each part.
    package var isStopped: @Sendable () -> Bool

    package init(isStopped: @escaping @Sendable () -> Bool) { self.isStopped = isStopped }
}
