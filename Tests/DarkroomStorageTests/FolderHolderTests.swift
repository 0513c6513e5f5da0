import DarkroomConcurrency
import DarkroomFiles
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage

/// Which batch may write files to a folder.
@Suite struct FolderHolderTests {
    let scratch: ScratchFolder
    let folder: Folder
    let first = FolderHolder(owner: "20261121-090501123-7f3a", number: 100)
    let second = FolderHolder(owner: "20261121-090501999-0000", number: 200)

    init() throws {
        scratch = try ScratchFolder()
        folder = try Folder(trusted: scratch.path)
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: scratch.path(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// How often this process has the file `holder` open.
    private func openings() throws -> Int {
        let path = scratch.path("holder")
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            // Other threads may have closed the descriptor.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == path
        }
    }

    private func whileHolding(_ holder: FolderHolder, _ body: () throws -> Void) throws {
        var result = Result<Void, any Error>.success(())
        try holder.whileHolding("holder", in: folder) { result = Result(catching: body) }
        try result.get()
    }

    private func mayWrite(_ holder: FolderHolder) -> Bool {
        var isCalled = false
        let error = failure { () throws(SystemFailure) in
            try holder.whileHolding("holder", in: folder) { isCalled = true }
        }
        #expect(isCalled == (error == 0))
        return error == 0
    }

    @Test func lastTakerHoldsTheFolder() throws {
        #expect(try FolderHolder.read("holder", in: folder) == nil)
        #expect(mayWrite(first), "a folder without a holder cannot be written")
        #expect(try first.take("holder", in: folder) == nil)
        #expect(try first.take("holder", in: folder) == nil)
        #expect(mayWrite(first) && !mayWrite(second))
        #expect(try second.take("holder", in: folder) == nil)
        #expect(!mayWrite(first) && mayWrite(second))
        #expect(try first.take("holder", in: folder) == second, "an older take replaced a newer one")
        // The first batch can take the folder again with a higher number.
        let again = FolderHolder(owner: first.owner, number: 300)
        #expect(try again.take("holder", in: folder) == nil)
        #expect(mayWrite(first) && !mayWrite(second))
        #expect(try first.take("holder", in: folder) == nil)
        #expect(try FolderHolder.read("holder", in: folder) == again)
    }

    /// If `holder` already names a batch, another process of this batch may write only after the previous holder has
    /// ended its writes.
    @Test func processesOfTheTakingBatchWriteAfterThePreviousHolder() throws {
        #expect(try first.take("holder", in: folder) == nil)
        let order = Locked<[String]>([])
        let written = DispatchSemaphore(value: 0)
        try whileHolding(first) {
            // The threads ignore errors, because the check of `order` fails after an error.
            Thread.detachNewThread { [self] in _ = try? second.take("holder", in: folder) }
            try waitUntil("the file names the second holder") { try FolderHolder.read("holder", in: folder) == second }
            Thread.detachNewThread { [self] in
                try? second.whileHolding("holder", in: folder) { order.withLock { $0.append("second") } }
                written.signal()
            }
            // The file is open in `whileHolding` of both threads and in both calls of `take`. From now on the last thread
            // asks for the lock.
            try waitUntil("the second process waits") { try openings() == 4 || order.withLock { !$0.isEmpty } }
            order.withLock { $0.append("first") }
        }
        written.wait()
        #expect(order.withLock { $0 } == ["first", "second"])
    }

    @Test func takerWaitsForWritesOfThePreviousHolder() throws {
        #expect(try first.take("holder", in: folder) == nil)
        let order = Locked<[String]>([])
        let taken = DispatchSemaphore(value: 0)
        try whileHolding(first) {
            Thread.detachNewThread { [self] in
                _ = try? second.take("holder", in: folder)
                order.withLock { $0.append("taken") }
                taken.signal()
            }
            try waitUntil("the file names the second holder") { try FolderHolder.read("holder", in: folder) == second }
            #expect(!mayWrite(first), "the previous holder began another write")
            order.withLock { $0.append("placed") }
        }
        taken.wait()
        #expect(order.withLock { $0 } == ["placed", "taken"])
    }

    /// A process of the taking batch also waits if `holder` already names its batch.
    @Test func everyTakerOfABatchWaitsForThePreviousHolder() throws {
        #expect(try first.take("holder", in: folder) == nil)
        try whileHolding(first) {
            for _ in 0..<2 {
                let error = failure { () throws(SystemFailure) in
                    _ = try second.take("holder", in: folder, patience: .milliseconds(50))
                }
                #expect(error == ETIMEDOUT)
            }
        }
        #expect(!mayWrite(first))
        #expect(try second.take("holder", in: folder) == nil)
        #expect(
            text("holder")?.split(separator: " ").map(String.init) == ["\(second.owner)", "200", "\n"])
    }

    @Test func takerThatIsOvertakenWhileItWaitsIsNotTheHolder() throws {
        let third = FolderHolder(owner: "20261121-090502000-0002", number: 300)
        #expect(try first.take("holder", in: folder) == nil)
        let others = Locked<[FolderHolder: FolderHolder?]>([:])
        let taken = DispatchSemaphore(value: 0)
        try whileHolding(first) {
            for holder in [second, third] {
                Thread.detachNewThread { [self] in
                    let other = try? holder.take("holder", in: folder)
                    others.withLock { $0[holder] = .some(other) }
                    taken.signal()
                }
                try waitUntil("the file names the holder") { try FolderHolder.read("holder", in: folder) == holder }
            }
        }
        for _ in 1...2 { taken.wait() }
        #expect(others.withLock { $0 } == [second: third, third: nil])
        #expect(!mayWrite(second) && mayWrite(third))
    }

    @Test func highestNumberOfManyTakersIsTheHolder() throws {
        let holders = (1...8).map { FolderHolder(owner: "b\($0)", number: $0) }
        DispatchQueue.concurrentPerform(iterations: holders.count) { at in
            _ = try? holders[at].take("holder", in: folder)
        }
        #expect(holders.map(mayWrite) == holders.map { $0.number == 8 })
    }

    @Test(arguments: ["x", "a b c\n", "../x 5\n", "b 99999999999999999999\n", "b -\n"])
    func damagedFileBlocksAllWrites(text: String) throws {
        try scratch.write("holder", text)
        #expect(!mayWrite(first))
        #expect(failure { () throws(SystemFailure) in _ = try first.take("holder", in: folder) } == EINVAL)
    }

    @Test func holderWithAnInvalidNumberDoesNotChangeTheFile() throws {
        #expect(try first.take("holder", in: folder) == nil)
        let invalid = FolderHolder(owner: second.owner, number: FolderHolder.numbers.upperBound + 1)
        #expect(failure { () throws(SystemFailure) in _ = try invalid.take("holder", in: folder) } == ERANGE)
        #expect(mayWrite(first))
    }

    /// After a power cut, some file systems leave such a file.
    @Test(arguments: ["\0", " "]) func blankFileCountsAsNoHolder(byte: String) throws {
        try scratch.write("holder", String(repeating: byte, count: 96))
        #expect(try first.take("holder", in: folder) == nil)
        #expect(mayWrite(first) && !mayWrite(second))
    }

    @Test func linkOrPipeInPlaceOfTheFileIsRefused() throws {
        let outside = try ScratchFolder()
        try outside.write("file", "precious")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("holder"), withDestinationPath: outside.path("file"))
        #expect(!mayWrite(first))
        #expect(failure { () throws(SystemFailure) in _ = try first.take("holder", in: folder) } == ELOOP)
        try folder.remove("holder")
        #expect(mkfifo(scratch.path + "/holder", 0o666) == 0)
        #expect(!mayWrite(first))
        #expect(failure { () throws(SystemFailure) in _ = try first.take("holder", in: folder) } == EINVAL)
        #expect(FileManager.default.contents(atPath: outside.path("file")) == Data("precious".utf8))
    }
}

/// The `errno` of the failure that `body` throws; 0 if it throws nothing.
private func failure(_ body: () throws(SystemFailure) -> Void) -> Int32 {
    do throws(SystemFailure) {
        try body()
        return 0
    } catch {
        return error.error
    }
}
