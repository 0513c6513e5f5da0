/// How a worker handles photos whose files do not fit on the disk.
package enum WhenDiskFull: String, CaseIterable, Sendable {
    /// The photos wait until the disk has room. If they failed, a full disk would fail the rest of a long list.
    case wait
    /// The photos fail with the reason `disk-full`.
    case fail
}
