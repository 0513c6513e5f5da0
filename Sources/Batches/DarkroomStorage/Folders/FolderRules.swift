/// The rules of a worker for batches whose place is a folder.
package struct FolderRules: Sendable {
    /// The longest wait for processes of a batch that held a folder before.
    package var holderPatience: Duration
    /// Makes all earlier writes to the file system of a descriptor durable. Returns 0 or an error number.
    package var syncFileSystem: @Sendable (Int32) -> Int32

    package init(holderPatience: Duration, syncFileSystem: @escaping @Sendable (Int32) -> Int32) {
        self.holderPatience = holderPatience
        self.syncFileSystem = syncFileSystem
    }
}
