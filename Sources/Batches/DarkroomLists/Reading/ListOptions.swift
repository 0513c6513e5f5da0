import DarkroomModel

package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are read.
    package var isRecursive = false
    /// A subfolder to skip in a folder of photos, because it is the output folder.
    package var except: String?
    package var columns = ListColumns()
    /// How quotation marks in a table are read; nil: this is detected.
    package var quotes: ListQuotes?
    /// Whether the address of a list on the web may be private. A redirect never leads to a private address from another.
    package var mayBePrivate = true
    /// The limits for the list of somebody who is not trusted; nil for none.
    package var limits: ListLimits?

    package init() {}
}

/// Limits for the list of somebody who is not trusted.
package struct ListLimits: Sendable {
    /// How long the reader may wait for the server of a list on the web, in addition to the time at the slowest rate.
    package var patience = Duration.seconds(10)
    package var slowestBytesPerSecond = 16_384
    /// How long the reader may wait for this server in total.
    package var longestWait = Duration.seconds(1800)
    /// The size of a list on the web, without decompression.
    package var maxBytes = 2 << 30
    /// The size of a JSON document or a property list, which is held in memory.
    package var maxWholeBytes = 32 << 20
    /// Whether a list on the web is no longer wanted. Asked once a second while the reader waits, and after each part.
    package var isStopped: @Sendable () -> Bool

    package init(isStopped: @escaping @Sendable () -> Bool) { self.isStopped = isStopped }
}
