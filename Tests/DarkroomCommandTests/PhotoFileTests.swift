import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// The files that `develop` writes.
@Suite struct PhotoFileTests {
    @Test func temporaryFileHasTheModeOfTheReplacedFile() throws {
        let scratch = try ScratchFolder()
        let path = try scratch.write("private.jpg", "mine")
        #expect(chmod(path, 0o600) == 0)
        let folder = scratch.path("")
        let isWritten = Latch()
        let seen = Locked<Set<mode_t>>([])
        let observer = Thread {
            while !isWritten.isSet {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                for name in names where name.hasPrefix(".darkroom-") {
                    var found = stat()
                    if lstat("\(folder)/\(name)", &found) == 0 {
                        seen.withLock { _ = $0.insert(found.st_mode & 0o777) }
                    }
                }
            }
        }
        observer.start()
        let photo = [UInt8](repeating: 7, count: 32 << 20)
        for _ in 0..<50 {
            try photo.withUnsafeBytes { try PhotoFile(path: path, replaces: true).write($0) }
            if !seen.withLock({ $0.isEmpty }) { break }
        }
        isWritten.set()
        while !observer.isFinished { usleep(1000) }  // Foundation.Thread cannot be joined
        #expect(seen.withLock { $0 } == [0o600])
        var found = stat()
        #expect(lstat(path, &found) == 0 && found.st_mode & 0o7777 == 0o600 && found.st_size == photo.count)
    }

    @Test(
        arguments: [
            (0o4755, true, true, 0o4755), (0o6750, false, true, 0o750), (0o6770, false, false, 0o700),
            (0o664, false, false, 0o604), (0o640, false, true, 0o640),
        ] as [(mode_t, Bool, Bool, mode_t)])
    func modeOfAFileWithAnotherOwner(replaced: mode_t, hasOwner: Bool, hasGroup: Bool, mode: mode_t) {
        #expect(PhotoFile.mode(replacing: replaced, hasOwner: hasOwner, hasGroup: hasGroup) == mode)
    }
}
