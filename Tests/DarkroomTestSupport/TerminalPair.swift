import Foundation

/// A terminal: what a program has open, and the end of whoever shows it and types.
package struct TerminalPair: Sendable {
    /// What shows it and types.
    package let screen: Int32
    /// What a program has open.
    package let terminal: Int32

    private static let unlock = 0x4004_5431  // TIOCSPTLCK
    private static let getNumber = 0x8004_5430  // TIOCGPTN

    /// Makes a terminal; it is there until ``close()``.
    package init() throws {
        func check(_ result: Int32) throws -> Int32 {
            guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return result
        }
        screen = try check(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        var number: Int32 = 0
        // What unlockpt(3) and ptsname(3) do.
        _ = try check(ioctl(screen, UInt(Self.unlock), &number))
        _ = try check(ioctl(screen, UInt(Self.getNumber), &number))
        terminal = try check(open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC))
    }

    /// Closes both ends.
    package func close() {
        for descriptor in [terminal, screen] { Foundation.close(descriptor) }
    }
}
