import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage
@testable import DarkroomWorker

/// The tests simulate an unresponsive file system: they hold the lock of the holder file.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct UnansweringFolderTests {
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    @Test func unresponsiveFolderDoesNotDelayOtherFolders() throws {
        // One claim returns both batches, the one with the unresponsive folder first.
        let urls = (0..<4).map { _ in photos.url("/moon.png") }
        let stuck = try darkroom.submit(urls, darkroom.options { $0.operationSize = 1 })
        let other = try darkroom.submit(
            urls,
            darkroom.options {
                $0.output = "/dev/shm/" + URL(fileURLWithPath: darkroom.folder).lastPathComponent
                $0.operationSize = 1
            })
        let otherOutput = try #require(try darkroom.store.facts(of: other)).options.output
        defer { try? FileManager.default.removeItem(atPath: otherOutput) }
        let lock = open(darkroom.folder + "/" + ManifestPath.holder, O_RDWR | O_CREAT, 0o666)
        #expect(flock(lock, LOCK_SH) == 0)
        try darkroom.withWorker {
            $0.hooks.claimPatience = .milliseconds(200)
            $0.hooks.holderPatience = .seconds(60)
        } run: { worker in
            // The lock is held until the end of the test, so a delay would last as long as the patience.
            try darkroom.wait(other, within: 50)
            darkroom.waitForLog("does not answer")
            // The worker does not try another batch on the same file system.
            let late = try darkroom.submit(urls, darkroom.options { $0.output = darkroom.folder + "/late" })
            darkroom.waitForLog("does not answer", count: 2, seconds: 50)
            for _ in 0..<100 where worker.core.renewed.stuck == 0 {
                _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "0.05"))
            }
            #expect(worker.core.renewed.stuck > 0, "the worker renews the leases of operations that it cannot start")
            close(lock)
            try darkroom.wait(stuck)
            try darkroom.wait(late)
            for id in [stuck, other, late] { #expect(try darkroom.store.facts(of: id)?.counts.filtered == 4) }
        }
    }

    @Test func lockOfAStrangerDelaysOtherBatchesOnlyBriefly() throws {
        let urls = [photos.url("/moon.png")]
        var locks: [Int32] = []
        defer { for lock in locks { close(lock) } }
        for number in 0..<2 {
            let output = darkroom.folder + "/locked-\(number)"
            _ = try darkroom.submit(urls, darkroom.options { $0.output = output })
            locks.append(open(output + "/" + ManifestPath.holder, O_RDWR | O_CREAT, 0o666))
            #expect(flock(locks[number], LOCK_EX) == 0)
        }
        let other = try darkroom.submit(urls, darkroom.options { $0.output = darkroom.folder + "/free" })
        try darkroom.withWorker { _ in try darkroom.wait(other, within: 10) }
    }

    @Test func recordsTheUnresponsiveFolderAsTheLastOneRead() throws {
        var options = BatchOptions()
        (options.output, options.originals) = (darkroom.folder, darkroom.folder + "/missing")
        try FileManager.default.createDirectory(
            atPath: darkroom.folder + "/" + ManifestPath.folder(BatchID("batch")), withIntermediateDirectories: true)
        var looked: [String] = []
        #expect(throws: Refusal.self) {
            try BatchContext(BatchID("batch"), options, PhotoWorkerConfiguration()) { looked.append($0) }
        }
        #expect(looked == [darkroom.folder, options.originals])
    }

    @Test func findsTheMountPointOfAPath() {
        let mounts = """
            22 1 8:1 / / rw - ext4 /dev/sda1 rw
            30 22 0:40 / /mnt/share rw - nfs server:/share rw
            31 22 0:41 / /mnt/my\\040share rw - nfs server:/other rw
            """
        #expect(MountPoint.of("/mnt/share/out", mounts: mounts) == "/mnt/share")
        #expect(MountPoint.of("/mnt/share", mounts: mounts) == "/mnt/share")
        #expect(MountPoint.of("/mnt/shared", mounts: mounts) == "/")
        #expect(MountPoint.of("/mnt/my share/out", mounts: mounts) == "/mnt/my share")
        #expect(MountPoint.of("/mnt", mounts: "") == "/")
    }
}
