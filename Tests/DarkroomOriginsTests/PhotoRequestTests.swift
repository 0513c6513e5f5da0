import DarkroomConcurrency
import DarkroomOrigins
import DarkroomTransfer
import Testing

/// Notes its calls.
private final class NotedFetch: PhotoFetch {
    let levels = Locked<[CancellationToken.Level]>([])
    let orders = Locked<[TransferOrder]>([])

    func stop(_ level: CancellationToken.Level) { levels.withLock { $0.append(level) } }
    func reorder(_ order: TransferOrder) { orders.withLock { $0.append(order) } }
}

@Suite struct PhotoRequestTests {
    private let token = CancellationToken()
    private let fetch = NotedFetch()

    private var request: PhotoRequest {
        PhotoRequest(.example("memory://photos/a.jpg"), of: .example(), cancellation: token)
    }

    @Test func requestIsReorderedBeforeItBegins() {
        let request = request
        request.reorder(TransferOrder(priority: 3))
        request.begin { order in
            #expect(order.priority == 3)
            // As another thread may do before the fetch is known.
            request.reorder(TransferOrder(priority: 4))
            return fetch
        }
        #expect(fetch.orders.withLock { $0 } == [TransferOrder(priority: 4)])
        request.reorder(TransferOrder(priority: 5))
        #expect(fetch.orders.withLock { $0.last } == TransferOrder(priority: 5))
    }

    @Test func requestIsStoppedBeforeAndAfterItBegins() {
        let request = request
        token.withdraw()
        request.stop(token.level)
        request.begin { _ in fetch }
        #expect(fetch.levels.withLock { $0 } == [.withdrawn])
        request.stop(.cancelled)
        #expect(fetch.levels.withLock { $0 } == [.withdrawn, .cancelled])
    }
}
