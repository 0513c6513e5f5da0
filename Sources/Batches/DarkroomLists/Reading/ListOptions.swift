import DarkroomModel

package struct ListOptions: Sendable {
    /// Whether the subfolders of a folder of photos are read.
    package var isRecursive = false
    /// A subfolder to skip in a folder of photos, because it is the output folder.
    package var except: String?
    package var columns = ListColumns()
    /// The reading of quotation marks in a table; nil to detect it.
    package var quotes: ListQuotes?
    /// Whether the address of a list on the web may be private. A redirect from a public address never leads to a
    /// private one.
    package var mayBePrivate = true
    /// The limits for the list of an untrusted user; nil for no limits.
    package var limits: ListLimits?

    package init() {}
}

/// Limits for the list of an untrusted user.
package struct ListLimits: Sendable {
    /// The longest wait for the server of a list on the web, in addition to the time in which the slowest rate would
    /// transfer the list.
    package var patience = Duration.seconds(10)
    package var slowestBytesPerSecond = 16_384
    /// The longest total wait for this server.
    package var longestWait = Duration.seconds(1800)
    /// The maximum size of a list on the web before decompression, in bytes.
    package var maxBytes = 2 << 30
    /// The maximum size in bytes of a JSON document or a property list, which is held in memory.
    package var maxWholeBytes = 32 << 20
    /// Returns true if a list is no longer wanted. Called once a second while the reader waits, and after each part.
    package var isStopped: @Sendable () -> Bool

    package init(isStopped: @escaping @Sendable () -> Bool) { self.isStopped = isStopped }
}
