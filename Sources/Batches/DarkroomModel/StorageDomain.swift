/// Storage that fails as a whole, such as a file system. If it is full or unavailable, batches that write to it wait.
package struct StorageDomain: Hashable, Sendable {
    /// The name, unique on this machine.
    package let name: String

    package init(_ name: String) { self.name = name }
}
