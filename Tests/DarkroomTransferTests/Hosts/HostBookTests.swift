import DarkroomHosts
import FuzzSupport
import Testing

@testable import DarkroomTransfer

private final class Item: Hashable, CustomStringConvertible {
    let description: String
    let host: String

    init(_ number: Int, host: String) {
        description = "\(number)"
        self.host = host
    }

    static func == (first: Item, second: Item) -> Bool { first === second }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@Suite(.timeLimit(.minutes(1))) struct HostBookTests {
    /// Random calls. Nothing is lost, no bound is exceeded, and what may begin begins at once or has a time.
    @Test(arguments: 1...200 as ClosedRange<UInt64>) func randomCallsKeepTheRules(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let places = Bool.random(using: &random) ? nil : Int.random(in: 1...6, using: &random)
        let perHost = Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil
        let isShared = Bool.random(using: &random)
        var book = HostBook<Item>(places: places, isShared: isShared) { _ in .init(perHost: perHost) }
        var exchanged: [String] = []  // the hosts of an exchange under way
        var permits: [String: Int] = [:]
        var before = permits
        var waiting: [Item: TransferOrder] = [:]
        var running: [(item: Item, priority: Int, start: ContinuousClock.Instant)] = []
        var now = ContinuousClock.now
        func anyHost() -> String { "h\(Int.random(in: 0..<4, using: &random))" }
        func anyItem() -> Item? {
            waiting.keys.sorted { $0.description < $1.description }.randomElement(using: &random)
        }
        for number in 0..<200 {
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                let item = Item(number, host: anyHost())
                let order = TransferOrder(
                    priority: Int.random(in: 0..<3, using: &random), isFirst: Bool.random(using: &random),
                    group: "g\(Int.random(in: 0..<2, using: &random))")
                waiting[item] = order
                book.add(item, host: item.host, order: order, now)
            case 3:
                guard let item = anyItem() else { continue }
                waiting[item] = nil
                let removals = [book.remove(item, now), book.remove(item, now)]
                #expect(removals == [true, false])
            case 4:
                guard let item = anyItem() else { continue }
                let order = TransferOrder(priority: Int.random(in: 0..<3, using: &random))
                waiting[item] = order
                book.reorder(item, to: order, now)
            case 5:
                guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
                let host = anyHost()
                let removed = Set(book.removeAll(of: host, now))
                #expect(removed == Set(waiting.keys.filter { $0.host == host }))
                for item in removed { waiting[item] = nil }
            case 6, 7:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                let (item, priority, start) = running.remove(at: index)
                let signs: [HostSign] = [
                    .answered(after: .milliseconds(10)), .answered(after: .milliseconds(10)),
                    .refused(retryAfter: nil), .unavailable, .silent, .slow, .none,
                ]
                book.ended(item.host, priority: priority, signs.randomElement(using: &random)!, begun: start, now)
            default: now += .seconds(Double.random(in: 0...2, using: &random))
            }
            if !exchanged.isEmpty, Bool.random(using: &random) {
                for host in exchanged {
                    var share = HostShare(permits: Int.random(in: 0...3, using: &random))
                    share.isContended = Bool.random(using: &random)
                    share.version = Int.random(in: 0...2, using: &random)
                    let next = Duration.seconds(Int.random(in: 0...3, using: &random))
                    share.state = [
                        nil, .up, .troubled(.down, since: .seconds(1), next: next, count: 1),
                        .troubled(.paused, since: .zero, next: next, count: 1),
                    ].randomElement(using: &random)!
                    let isReached = Int.random(in: 0..<5, using: &random) > 0
                    permits[host] = isReached ? share.permits : max(1, before[host] ?? 0)
                    book.apply(isReached ? share : nil, to: host, now)
                }
                exchanged = []
            } else if exchanged.isEmpty {
                let uses = book.takeUses(10, now)
                for use in uses {
                    #expect(use.running == running.filter { $0.item.host == use.host }.count)
                    #expect((use.wanted > 0) == (use.running > 0 || waiting.keys.contains { $0.host == use.host }))
                    before[use.host] = permits[use.host] ?? 0
                    permits[use.host] = min(permits[use.host] ?? 0, use.running)
                }
                exchanged = uses.map(\.host)
            }
            while let item = book.next(now) {
                let found = waiting.removeValue(forKey: item)
                let order = try #require(found, "\(item) does not wait")
                running.append((item, order.priority, now))
                #expect(running.filter { $0.priority >= order.priority }.count <= places ?? .max)
                let atHost = running.filter { $0.item.host == item.host }.count
                #expect(atHost <= perHost ?? .max)
                if isShared { #expect(atHost <= permits[item.host] ?? 0, "no more than the other workers leave") }
                #expect(atHost == book.condition(of: item.host)?.running)
            }
            #expect(book.count == waiting.count)
            for (item, order) in waiting {
                let condition = try #require(book.condition(of: item.host))
                guard running.filter({ $0.priority >= order.priority }).count < places ?? .max,
                    let time = condition.nextBegin(now)
                else {
                    let isAsking = !isShared || exchanged.contains(item.host) || book.nextExchange != nil
                    #expect(isAsking, "\(item) waits for ever")
                    continue
                }
                #expect(time > now, "\(item) may begin")
                let next = try #require(book.nextTime)
                #expect(next <= time)
            }
        }
    }

    @Test func totalRateHoldsForAllHostsTogether() throws {
        var book = HostBook<Item>(interval: .milliseconds(100)) { _ in .init(perHost: 100) }
        let start = ContinuousClock.now
        for number in 0..<10 {
            // Files have no host, and do not count.
            let host = number < 2 ? "" : "h\(number % 4)"
            let order = TransferOrder(priority: number % 2)
            book.add(Item(number, host: host), host: host, order: order, start)
        }
        var begun: [(item: Item, after: Duration)] = []
        var now = start
        while true {
            while let item = book.next(now) { begun.append((item, now - start)) }
            guard let next = book.nextTime else { break }
            #expect(next > now, "the loop of the engine would spin")
            now = next
        }
        let web = begun.filter { !$0.item.host.isEmpty }
        #expect(begun.count == 10 && web.map(\.after) == (0..<8).map { .milliseconds(100 * $0) })
        #expect(begun.allSatisfy { !$0.item.host.isEmpty || $0.after == .zero })
        #expect(web.prefix(4).allSatisfy { $0.item.description.last.map { "13579".contains($0) } == true })
    }

    /// A host in steady use costs few exchanges, even if the worker wants more than its share.
    @Test func sharedHostIsExchangedAFewTimesASecond() {
        var book = HostBook<Item>(isShared: true) { _ in .init(perHost: 8) }
        let start = ContinuousClock.now
        for number in 0..<20 { book.add(Item(number, host: "h"), host: "h", order: TransferOrder(), start) }
        var count = 0
        for milliseconds in 0..<1000 {
            let now = start + .milliseconds(milliseconds)
            for use in book.takeUses(10, now) {
                count += 1
                var share = HostShare(permits: 4)
                (share.users, share.all, share.limit) = (2, 8, 8)
                book.apply(share, to: use.host, now)
            }
            while book.next(now) != nil {}
        }
        #expect((2...3).contains(count))
    }

    /// Between an exchange and its reply, the permits may already belong to another worker.
    @Test func noRequestBeginsWithPermitsThatMayBeGone() {
        var book = HostBook<Item>(isShared: true) { _ in .init(perHost: 8) }
        let now = ContinuousClock.now
        book.add(Item(0, host: "h"), host: "h", order: TransferOrder(), now)
        #expect(book.takeUses(10, now).map(\.wanted) == [1])
        #expect(book.next(now) == nil)
        book.apply(HostShare(permits: 4), to: "h", now)
        #expect(book.next(now) != nil)
        let later = now + .milliseconds(500)
        #expect(book.takeUses(10, later).map(\.running) == [1])
        for number in 1...3 { book.add(Item(number, host: "h"), host: "h", order: TransferOrder(), later) }
        #expect(book.next(later) == nil)
        book.apply(nil, to: "h", later)
        let begun = (0..<5).count { _ in book.next(later) != nil }
        #expect(begun == 3, "without a reply, the worker keeps its permits")
    }
}
