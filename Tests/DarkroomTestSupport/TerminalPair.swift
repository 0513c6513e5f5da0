import Foundation

/// A pseudo-terminal: one descriptor for a program, and one descriptor for a terminal emulator.
package struct TerminalPair: Sendable {
    /// The descriptor of the terminal emulator.
    package let screen: Int32
    /// The descriptor of the program.
    package let terminal: Int32

    private static let unlock = 0x4004_5431  // TIOCSPTLCK
    private static let getNumber = 0x8004_5430  // TIOCGPTN

    /// Creates a terminal. Must be closed with ``close()``.
    package init() throws {
        func check(_ result: Int32) throws -> Int32 {
            guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return result
        }
        screen = try check(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        var number: Int32 = 0
        // Same as unlockpt(3) and ptsname(3).
        _ = try check(ioctl(screen, UInt(Self.unlock), &number))
        _ = try check(ioctl(screen, UInt(Self.getNumber), &number))
        terminal = try check(open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC))
    }

    /// Closes both ends.
    package func close() {
        for descriptor in [terminal, screen] { Foundation.close(descriptor) }
    }
}
