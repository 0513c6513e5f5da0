import CSystem
import Glibc
import Testing

/// Tests which open files are marked to be closed when another program starts (close-on-exec).
@Suite struct OpenFilesTests {
    /// Tests the method for kernels without close_range(2).
    @Test func listedFilesAreClosed() throws {
        // More files than one call of getdents64(2) returns.
        let files = (0..<300).map { _ in fcntl(STDERR_FILENO, F_DUPFD, 600) }
        defer { for file in files { close(file) } }
        try #require(files.allSatisfy { $0 >= 600 })
        let first = files[100]
        #expect(csystem_close_on_exec_by_listing(first) == 0)
        for file in files { #expect((fcntl(file, F_GETFD) & FD_CLOEXEC != 0) == (file >= first), "file \(file)") }
    }
}
