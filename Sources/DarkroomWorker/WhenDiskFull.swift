/// What becomes of photos whose files find no room on the disk.
package enum WhenDiskFull: String, CaseIterable, Sendable {
    /// They wait until there is room again: a full disk is a state of the machine and not of a photo, and a long list would
    /// fail in seconds because of it.
    case wait
    /// They fail, with `disk-full` as the reason.
    case fail
}
