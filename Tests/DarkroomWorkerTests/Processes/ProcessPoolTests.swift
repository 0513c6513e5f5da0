import DarkroomConcurrency
import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomWorker

@Suite struct ProcessPoolTests {
    /// A process whose calls are counted.
    private final class Process: PooledProcess {
        let number: Int
        private let state: Locked<(photos: Int, isUsable: Bool, hasEnded: Bool)>

        init(_ number: Int, photos: Int = 0) {
            self.number = number
            state = Locked((photos, true, false))
        }

        var photos: Int { state.withLock { $0.photos } }
        var isUsable: Bool { state.withLock { $0.isUsable } }
        var hasEnded: Bool { state.withLock { $0.hasEnded } }
        func end() { state.withLock { $0.hasEnded = true } }
        func spoil() { state.withLock { $0.isUsable = false } }
        func develop() { state.withLock { $0.photos += 1 } }
    }

    private let pool = ProcessPool<Process>()
    private let started = Locked<[Process]>([])

    private func start() -> Process {
        started.withLock { started in
            started.append(Process(started.count))
            return started[started.count - 1]
        }
    }

    /// Develops a photo. Returns the number of the process that has developed it.
    @discardableResult private func use(
        _ failure: PhotoProduct.Failure? = nil, mayBeOfEarlierPhotos: Bool = false, attempts: Int = 1
    ) throws(PhotoProduct.Failure) -> Int {
        var calls = 0
        return try pool.use(start: start) { process in
            process.develop()
            calls += 1
            guard let failure else { return ProcessUse(process.number) }
            return ProcessUse(
                failure: failure, mayBeOfEarlierPhotos: mayBeOfEarlierPhotos, isTriedAgain: calls < attempts)
        }
    }

    private let crash = PhotoProduct.Failure(reason: .crashed, detail: "")
    private var ended: [Bool] { started.withLock { $0.map(\.hasEnded) } }

    @Test func processesAreKeptUntilTheEnd() throws {
        for _ in 0..<3 { #expect(try use() == 0) }
        #expect(ended == [false])
        pool.endIdle()
        #expect(ended == [true])
        #expect(try use() == 1)
    }

    @Test func processInDoubtIsEnded() throws {
        #expect(expectError(PhotoProduct.Failure.self) { try use(crash) }?.reason == .crashed)
        #expect(try use() == 1)
        #expect(ended == [true, false])
    }

    @Test func idleProcessThatHasBecomeUnusableIsReplaced() throws {
        try use()
        started.withLock { $0[0].spoil() }
        #expect(try use() == 1)
        #expect(ended == [true, false])
    }

    @Test func processIsReplacedAfter5000Photos() {
        pool.putBack(Process(7, photos: 4999))
        #expect(pool.take()?.number == 7)
        let last = Process(8, photos: 5000)
        pool.putBack(last)
        #expect(pool.take() == nil && last.hasEnded)
    }

    @Test func failureThatEarlierPhotosMayHaveCausedIsTriedAgainInANewProcess() throws {
        func fail(_ attempts: Int = 1) {
            let failure = expectError(PhotoProduct.Failure.self) {
                try use(crash, mayBeOfEarlierPhotos: true, attempts: attempts)
            }
            #expect(failure?.reason == .crashed)
        }
        fail()
        #expect(ended == [true])  // the process had developed no earlier photo
        try use()
        fail()
        #expect(ended == [true, true, true])
        fail(3)
        #expect(ended.count == 6)
    }

    @Test func startIsTriedAgainWithoutAPauseOrNever() throws {
        var attempts = 0
        let process = try startProcess("nothing starts", unless: { false }) { () throws(StartFailure) in
            attempts += 1
            if attempts < 30 { throw StartFailure(detail: "full", retry: .atOnce) }
            return Process(attempts)
        }
        #expect(process.number == 30)
        for retry in [StartFailure.Retry.atOnce, .never] {
            attempts = 0
            let failure = expectError(PhotoProduct.Failure.self) {
                try startProcess("nothing starts", unless: { false }) { () throws(StartFailure) -> Process in
                    attempts += 1
                    throw StartFailure(detail: "full", reason: .outOfMemory, retry: retry)
                }
            }
            #expect(failure?.reason == .outOfMemory && failure?.detail == "nothing starts: full")
            #expect(attempts == (retry == .never ? 1 : 30))
        }
    }

    @Test func cancellationEndsThePauseBetweenTwoAttempts() {
        var (attempts, checks) = (0, 0)
        let failure = expectError(PhotoProduct.Failure.self) {
            try startProcess(
                "nothing starts",
                unless: {
                    checks += 1
                    return checks > 3
                }
            ) { () throws(StartFailure) -> Process in
                attempts += 1
                throw StartFailure(detail: "full")
            }
        }
        #expect(failure?.reason == nil && attempts == 1 && checks > 3)
    }
}
