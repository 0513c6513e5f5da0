import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomTestSupport
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomStorage

@Suite(.timeLimit(.minutes(1))) struct CachedOriginTests {
    private static let url = "memory://photos/a.jpg"

    private let scratch: ScratchFolder
    private let inner = MemoryOrigin([url: [1, 2, 3]])
    private let fileCalls = FileCalls(patience: .seconds(10), claimPatience: .seconds(5))

    init() throws { scratch = try ScratchFolder() }

    private func origin(
        maxBytes: Int = 1000, _ change: (BatchOriginals) -> Void = { _ in },
        isWaitedFor: @escaping @Sendable (StorageFault) -> Bool = { _ in false }
    ) -> CachedOrigin {
        let originals = BatchOriginals(OriginalsFolder(in: scratch.path, maxBytes: maxBytes))
        change(originals)
        let calls = OriginalsCalls(FetchRules(TransferConfiguration()), fileCalls, worker: "worker")
        return CachedOrigin(inner, originals, calls, isWaitedFor: isWaitedFor)
    }

    private var isKept: Bool { scratch.exists(OriginalsFolder.file(of: Self.url)) }

    @Test func bytesAreFetchedOnceAndKept() async throws {
        let origin = origin()
        let first = try await origin.fetch(Self.url).get()
        #expect(first.body == [1, 2, 3] && first.attempts == 1 && isKept)
        let second = try await origin.fetch(Self.url).get()
        #expect(second.body == [1, 2, 3] && second.attempts == 0 && inner.fetches == 1)
    }

    @Test func errorOfTheInnerOriginIsNotKept() async throws {
        #expect(await origin().fetch("memory://photos/none.jpg").code == .fileNotFound)
        #expect(try scratch.contents("").isEmpty)
    }

    @Test func keptBytesOfAForbiddenURLAreNotRead() async throws {
        let origin = origin()
        #expect(await origin.fetch(Self.url).body == [1, 2, 3])
        inner.forbid(TransferError(code: .addressDenied, detail: "forbidden"))
        #expect(await origin.fetch(Self.url).code == .addressDenied)
    }

    /// The worker writes the new bytes after they were decoded.
    @Test func unusableBytesAreNeitherReadNorReplaced() async throws {
        try OriginalsFolder(in: scratch.path).write([9], of: Self.url, by: [])
        let unusable = BatchOriginals.Unusable(reason: .notAnImage, detail: "", digest: [])
        #expect(await origin({ $0.note(unusable, of: 0) }).fetch(Self.url).body == [1, 2, 3])
        #expect(await origin().fetch(Self.url).body == [9])
    }

    @Test func tooLargeBytesAreNotReadFromAnywhere() async throws {
        #expect(await origin().fetch(Self.url).body == [1, 2, 3])
        #expect(await origin(maxBytes: 2).fetch(Self.url).code == .tooLarge)
        #expect(inner.fetches == 1)
    }

    @Test(arguments: [(true, TransferError.Code.cancelled), (false, .cannotKeep(isFull: false))])
    func bytesThatCannotBeWrittenAreLost(isWaitedFor: Bool, code: TransferError.Code) async throws {
        // The file occupies the name of the folder.
        try scratch.write(String(OriginalsFolder.file(of: Self.url).prefix(2)), [])
        #expect(await origin(isWaitedFor: { _ in isWaitedFor }).fetch(Self.url).code == code)
    }

    @Test func photoThatMayNotBeginIsNeitherReadNorFetched() async throws {
        let steps = TransferSteps(mayBegin: { false })
        let request = PhotoRequest(.example(Self.url), of: .example(), steps: steps)
        #expect(await origin().fetch(request).code == .cancelled && inner.fetches == 0)
        #expect(await origin().fetch(Self.url).body == [1, 2, 3])
        #expect(await origin().fetch(request).code == .cancelled)
    }

    @Test(arguments: [true, false]) func stoppedPhotoIsNotFetched(isWithdrawn: Bool) async throws {
        let token = CancellationToken()
        if isWithdrawn { token.withdraw() } else { token.cancel() }
        let request = PhotoRequest(.example(Self.url), of: .example(), cancellation: token)
        #expect(await origin().fetch(request).code == .cancelled && inner.fetches == 0)
    }

    /// All threads hang, so further photos wait for a thread.
    @Test func operationsHangWhileTheFolderHangs() throws {
        let (hangs, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let origin = origin(isWaitedFor: { _ in
            hangs.signal()
            answers.wait()
            return true
        })
        scratch.remove()
        let ended = DispatchSemaphore(value: 0)
        var held: [HeldOperation] = []
        func start(_ number: Int) {
            held.append(.example(number))
            origin.fetch(PhotoRequest(.example(Self.url), of: .example(number))) { _ in ended.signal() }
        }
        for number in 1...4 {
            start(number)
            #expect(hangs.wait(timeout: .now() + 20) == .success)
        }
        start(5)
        let later = ContinuousClock.now + .seconds(60)
        #expect(fileCalls.hanging(later, limits: (8, 1)) == FileCalls.Hanging(operations: Set(held)))
        #expect(fileCalls.hanging(later, limits: (5, 1)).isAll)
        for _ in held { answers.signal() }
        for _ in held { #expect(ended.wait(timeout: .now() + 20) == .success) }
    }
}
