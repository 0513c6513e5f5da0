/// How a worker handles photos whose files do not fit on the disk.
package enum WhenDiskFull: String, CaseIterable, Sendable {
    /// The photos wait until there is room: a full disk is a state of the machine and not of a photo, and would make a long list
    /// fail in seconds.
    case wait
    /// The photos fail with the reason `disk-full`.
    case fail
}
