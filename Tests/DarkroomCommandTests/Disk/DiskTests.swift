import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// Real workers on file systems that are full, read-only, failing or unmounted.
@Suite(.redisServer, .serialized, .enabled(if: MountNamespace.isAvailable)) struct DiskTests {
    private let small = ["astronaut.jpg", "chelsea.jpg", "coffee.jpg", "grace_hopper.jpg"]

    @Test func workerWaitsForAFullDiskWithoutFailures() throws {
        let disk = try MountedOutput(
            "mkdir output && mount -t tmpfs -o size=6m none output && head -c 6000000 /dev/zero >output/filler")
        let id = try disk.submit(40, small)
        let worker = try disk.worker()
        try worker.waitFor("error worker: output cannot be written, its batches wait")
        try disk.wait(id, "refused") { _ in try disk.refusal(of: id).contains("No space left on device") }
        // The worker releases operations without downloaded bytes. No photo has failed.
        let facts = try disk.wait(id, "released") { $0.executing < 8 }
        #expect(facts.counts.failed == 0 && facts.counts.filtered < 40)
        let status = try disk.queue.run("status", "\(id)")
        #expect((status.standardOutput + status.standardError).contains("1 worker refused it: "), "\(status)")
        // The check for free space creates a file `.room-*` for a short time.
        let hidden = try FileManager.default.subpathsOfDirectory(atPath: disk.seen)
            .filter { $0.hasPrefix(".") && !$0.hasPrefix(".room-") }
        #expect(hidden.isEmpty)

        try disk.mounts.run("rm output/filler")
        try worker.waitFor("notice worker: output can be written again, going on")
        let finished = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(finished.counts.filtered == 40 && finished.counts.failed == 0)
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0)
        let reports = outcome.standardError.components(separatedBy: "output cannot be written").count - 1
        #expect(reports == 1, "\(outcome.standardError)")
        try disk.check(id)
    }

    /// The small rendition of a photo fits on the disk, and the large one does not: neither is reported.
    @Test func fullDiskBetweenTheFilesOfAPhotoWaits() throws {
        let disk = try MountedOutput(
            "mkdir output && mount -t tmpfs -o size=6m none output && head -c 6150000 /dev/zero >output/filler")
        let id = try disk.submit(4, ["hubble_deep_field.jpg"]) {
            $0.renditions = [
                PhotoRendition("small", filters: [PhotoFilter("resize=50")]), PhotoRendition("large", filters: []),
            ]
        }
        let worker = try disk.worker("--filtrations", "1")
        try worker.waitFor("error worker: output cannot be written, its batches wait")
        #expect(try disk.wait(id, "released") { $0.executing <= 1 }.counts.filtered == 0)
        let found = try FileManager.default.subpathsOfDirectory(atPath: disk.seen).filter { $0.hasSuffix(".jpg") }
        #expect(found == [])
        try disk.mounts.run("rm output/filler")
        #expect(try disk.wait(id, "finished") { $0.state == .finished }.counts.filtered == 4)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        try disk.check(id)
    }

    @Test func stoppingWorkerReleasesPhotosThatWaitForSpace() throws {
        let disk = try MountedOutput(
            "mkdir output && mount -t tmpfs -o size=6m none output && head -c 6250000 /dev/zero >output/filler")
        let id = try disk.submit(5, ["china.jpg"])
        let worker = try disk.worker("--filtrations", "2")
        try worker.waitFor("output cannot be written, its batches wait")
        // The worker keeps its operation for some time, because it has the downloaded bytes of the photos.
        #expect(try disk.queue.store.facts(of: id)?.executing == 1)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        let facts = try #require(try disk.queue.store.facts(of: id))
        #expect(facts.executing == 0 && facts.counts.new == 5 && facts.counts.failed == 0)
    }

    @Test func fullDiskFailsPhotosWithWhenDiskFullFail() throws {
        // There is space for the manifest and the small photos, but not for a large photo.
        let disk = try MountedOutput(
            "mkdir output && mount -t tmpfs -o size=6m none output && head -c 6150000 /dev/zero >output/filler")
        let id = try disk.submit(6, ["hubble_deep_field.jpg", "chelsea.jpg", "china.jpg"])
        // One filtration runs at a time, because the partial file of a large photo could take the space of a small
        // photo.
        let worker = try disk.worker("--when-disk-full", "fail", "--no-fsync", "--filtrations", "1")
        let facts = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(facts.failures == [.diskFull: 4] && facts.counts.filtered == 2)
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.standardError.contains("reason=disk-full"))
        #expect(!outcome.standardError.contains("its batches wait"))
        try disk.check(id)
    }

    @Test func workerWaitsForAFullFolderOfOriginals() throws {
        let disk = try MountedOutput(
            "mkdir output originals && mount -t tmpfs -o size=2m none originals"
                + " && head -c 2000000 /dev/zero >originals/filler")
        let id = try disk.submit(8, ["china.jpg", "rocket.jpg", "flower.jpg", "coffee.jpg"]) {
            $0.originals = disk.mounts.folder + "/originals"
        }
        let worker = try disk.worker()
        try worker.waitFor("output cannot be written, its batches wait")
        try disk.wait(id, "refused") { _ in try disk.refusal(of: id).contains("No space left on device") }
        #expect(try disk.queue.store.facts(of: id)?.counts.failed == 0)
        try disk.mounts.run("rm originals/filler")
        let facts = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(facts.counts.filtered == 8)
        try disk.check(id)
    }

    @Test(arguments: [
        ("umount -l output", "mount --bind share output"), ("mv share/manifest away", "mv away share/manifest"),
        ("mv output away", "mv away output"),
    ])
    func workerWaitsForALostShareAndLeavesItsMountPointEmpty(vanish: String, comeBack: String) throws {
        let disk = try MountedOutput(
            vanish.contains("mv output") ? "mkdir output" : "mkdir share output && mount --bind share output")
        let id = try disk.submit(300, small)
        let worker = try disk.worker("--downloads", "2", "--filtrations", "2")
        try disk.wait(id, "at work") { $0.counts.filtered >= 10 }
        try disk.mounts.run(vanish)
        try worker.waitFor("its batches wait")
        try disk.wait(id, "refused") { _ in try disk.refusal(of: id).contains("is gone (No such file or directory)") }
        let facts = try disk.wait(id, "released") { $0.executing < 60 }
        #expect(facts.counts.failed == 0 && facts.counts.filtered < 300)
        if vanish.hasPrefix("umount") {
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.seen).isEmpty)
        }
        try disk.mounts.run(comeBack)
        let finished = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(finished.counts.filtered == 300 && finished.counts.failed == 0)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        try disk.check(id)
        guard vanish.hasPrefix("umount") else { return }
        try disk.mounts.run("umount -l output")
        let below = try FileManager.default.contentsOfDirectory(atPath: disk.seen)
        #expect(below.isEmpty, "written below the mount point: \(below)")
    }

    /// The private Redis of `run` writes to the same full disk.
    @Test func runContinuesOnceTheDiskHasSpace() throws {
        let disk = try MountedOutput(
            "mkdir output && mount -t tmpfs -o size=8m none output && head -c 8000000 /dev/zero >output/filler")
        let list = disk.mounts.folder + "/list.txt"
        let urls = (0..<40).map { disk.server.url(small[$0 % small.count]) }
        try Data(urls.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: list))
        let run = try Program(["run", list, "-o", disk.output, "--allow-private", "--json"], in: disk.mounts)
        try run.waitFor("output cannot be written, its batches wait")
        try disk.mounts.run("rm output/filler")
        let outcome = try run.outcome()
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect((facts["counts"] as? [String: Int])?["filtered"] == 40)
    }

    @Test func workerWaitsForAReadOnlyDisk() throws {
        let disk = try MountedOutput("mkdir output && mount -t tmpfs -o size=64m none output")
        let id = try disk.submit(300, small)
        let worker = try disk.worker("--downloads", "2", "--filtrations", "2")
        try disk.wait(id, "at work") { $0.counts.filtered >= 10 }
        // Remounting fails while the worker writes a file, so it is repeated.
        try disk.mounts.run("until mount -o remount,ro output; do :; done")
        try worker.waitFor("its batches wait")
        try disk.wait(id, "refused") { _ in try disk.refusal(of: id).contains("Read-only file system") }
        #expect(try disk.queue.store.facts(of: id)?.counts.failed == 0)
        try disk.mounts.run("mount -o remount,rw output")
        let finished = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(finished.counts.filtered == 300 && finished.counts.failed == 0)
        try disk.check(id)
    }

    /// An ext4 file system in a file, on a disk with less space than the file system. Writes succeed, but their data is
    /// lost when the kernel writes it to the disk. Only syncfs(2) reports the loss, once.
    ///
    /// The loop device must write pages one by one. When it writes several at once, it reports success even if only the
    /// first page had space.
    @Test(.enabled(if: MountNamespace.hasLoopDevices)) func filesThatTheDiskLostAreWrittenAgain() throws {
        let disk = try MountedOutput(
            """
            mkdir output store && mount -t tmpfs -o size=3m none store && truncate -s 32M store/image \
            && mkfs.ext4 -q -F -b 4096 -N 256 -O ^has_journal -E nodiscard,lazy_itable_init=0 store/image \
            && device=$(losetup --find --show store/image) && basename $device >device \
            && echo 4 >/sys/block/$(cat device)/queue/max_sectors_kb \
            && mount $device output && losetup --detach $device && rmdir output/lost+found
            """)
        // The device still exists after the test, so the test restores the setting. If that fails, the device stays
        // slower.
        defer { try? disk.mounts.run("echo 0 >/sys/block/$(cat device)/queue/max_sectors_kb") }
        let id = try disk.submit(60, ["china.jpg", "hubble_deep_field.jpg"])
        // The metadata of the file system is stored now, so only the files will lack space.
        try disk.mounts.run("sync -f output")
        let worker = try disk.worker()
        try worker.waitFor("error worker: files may be lost, their operations run again")
        let facts = try #require(try disk.queue.store.facts(of: id))
        #expect(facts.counts.failed == 0 && facts.counts.filtered < 60)
        try disk.mounts.run("mount -o remount,size=64m store")
        let finished = try disk.wait(id, "finished") { $0.state == .finished }
        #expect(finished.counts.filtered == 60 && finished.counts.failed == 0)
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0)
        // Mounts the image again, so that the check reads from the disk and not from the cache of the kernel.
        try disk.mounts.run("umount output && mount -o loop store/image output")
        #expect(throws: Never.self, "the log of the worker: \(outcome.standardError)") { try disk.check(id) }
        try disk.mounts.run("umount output")
    }
}
