import DarkroomModel
import Testing

@testable import DarkroomStore

/// The fact `hosts` of workers, and the list of the hosts of all workers.
@Suite struct HostFactsTests {
    private static let now = 1_795_252_101_000
    private static let first = BatchID("20261121-090501123-7f3a")
    private static let second = BatchID("20261121-090501999-0001")

    private func host(_ name: String, _ state: HostFacts.State = .up, waiting: Int = 0) -> HostFacts {
        var host = HostFacts(host: name, state: state)
        host.batches = [Self.first: HostFacts.Counts(waiting: waiting, downloaded: 1)]
        return host
    }

    private func worker(_ id: String, _ text: String, age: Int = 0) -> WorkerFacts {
        WorkerFacts(id: id, seen: Self.now - age, fields: ["hosts": text])
    }

    // MARK: Text

    @Test func textIsReadAsItWasWritten() throws {
        var down = HostFacts(host: "cdn.example", state: .down)
        (down.downMilliseconds, down.nextMilliseconds) = (40_000, 8000)
        (down.running, down.allowed, down.rate) = (1, 1, 0.001)
        (down.isAllowedFixed, down.isRateFixed) = (true, true)
        down.batches = [
            Self.first: HostFacts.Counts(waiting: 212, downloaded: 3, failures: [.timeout: 2, .httpClientError: 9]),
            Self.second: HostFacts.Counts(waiting: 1),
        ]
        var up = HostFacts(host: "[2001:db8::1]", state: .up)
        (up.allowed, up.medianMilliseconds, up.mostMilliseconds) = (4, 82, 190)
        up.batches = [Self.second: HostFacts.Counts(downloaded: 7)]
        let report = WorkerFacts.Hosts(
            hosts: [down, up], others: [Self.first: HostFacts.Counts(downloaded: 5, failures: [.other: 1])])
        let text = WorkerFacts.text(of: report)
        #expect(
            text == """
                \(Self.first) \(Self.second);cdn.example down 40000 8000 1 1 cr 0.001 - - 0:212:3:http-4xx=9,timeout=2 1:1:0:;\
                [2001:db8::1] up 0 - 0 4 - - 82 190 1:0:7:;* 0:0:5:other=1
                """)
        #expect(worker("w", text).hosts(now: Self.now) == report)
        let later = worker("w", text, age: 3000).hosts(now: Self.now)
        #expect(later.hosts.map(\.downMilliseconds) == [43_000, 0])
        #expect(later.hosts.map(\.nextMilliseconds) == [5000, nil])
        #expect(worker("w", text, age: 9000).hosts(now: Self.now).hosts.first?.nextMilliseconds == 0)
        #expect(worker("w", WorkerFacts.text(of: WorkerFacts.Hosts())).hosts(now: Self.now) == WorkerFacts.Hosts())
    }

    @Test func textIsBoundedAndLosesNoPhoto() {
        let label = String(repeating: "a", count: 61)
        let hosts = (0..<64).map { host("\(label).\(label).\(label).\(label).\($0)", .paused, waiting: 1000 - $0) }
        let odd = ["a b", "a;b", "", "*", "\u{1b}[2J", "h\u{202e}", String(repeating: "b", count: 254)]
        let text = WorkerFacts.text(of: WorkerFacts.Hosts(hosts: odd.map { host($0, waiting: 1) } + hosts))
        #expect(text.utf8.count <= 4000)
        let read = worker("w", text).hosts(now: Self.now)
        #expect(read.hosts.first == hosts[0])
        #expect(read.hosts.count > 5)
        let waiting = read.hosts.reduce(0) { $0 + $1.counts.waiting } + (read.others[Self.first]?.waiting ?? 0)
        #expect(waiting == (937...1000).reduce(0, +) + odd.count)
    }

    /// Anyone with access to Redis, or a worker of another version, may have written the text.
    @Test(arguments: [
        "", ";", ";;;", "x", "\(first)", "\(first);cdn.example", "\(first);cdn.example down 1 1 1 1 - - -",
        "\(first);cdn.example gone 0 - 0 4 - - - - 0:1:1:", "\(first);cdn.example up 0 - -1 4 - - - - 0:1:1:",
        "\(first);cdn.example up 0 - 0 99999999999 - - - - 0:1:1:", "\(first);\u{1b}[2J up 0 - 0 4 - - - - 0:1:1:",
        "\(first);\(String(repeating: "a", count: 254)) up 0 - 0 4 - - - - 0:1:1:",
        "\(first);cdn.example up 99999999999999 - 0 4 - - - - 0:1:1:",
        "\(first);c\u{301}dn.example up 0 - 0 4 - - - - 0:1:1:",
        "\(first);* " + String(repeating: "9", count: 4000),
    ])
    func strangeTextNamesNoHost(text: String) {
        #expect(worker("w", text).hosts(now: Self.now) == WorkerFacts.Hosts())
    }

    @Test(arguments: [
        "1:1:1:", "-1:1:1:", "0:1:1", "0:1:1:x=1:", "0:536870913:1:", "0:1:-1:", "0::1:", "0:1:99999999999999999999:",
    ])
    func strangeNumbersOfPhotosAreLeftOut(part: String) throws {
        let list = HostList([worker("w", "\(Self.first);cdn.example up 0 - 0 4 - - - - \(part)")], now: Self.now)
        #expect(try #require(list.hosts.first).counts == HostFacts.Counts())
    }

    @Test func strangeRatesTimesAndReasonsAreLeftOut() throws {
        for rate in ["nan", "inf", "-1", "1e300", "x"] {
            let text =
                "\(Self.first);cdn.example up 0 5 0 4 cr \(rate) -5 99999999999999 0:1:1:gone=4,timeout=-1,stalled=2"
            let host = try #require(worker("w", text).hosts(now: Self.now).hosts.first)
            #expect(host.rate == nil && !host.isRateFixed && host.medianMilliseconds == nil)
            #expect(host.mostMilliseconds == nil && host.nextMilliseconds == nil)
            #expect(host.counts.failures == [.stalled: 2])
        }
    }

    // MARK: All workers

    @Test func hostsOfAllWorkersAreMerged() throws {
        let part = "0:10:1:timeout=1"
        let workers = [
            worker(
                "a",
                "\(Self.first);cdn.example down 40000 8000 1 1 - 4.5 80 90 \(part);b.example up 0 - 1 4 - - - - \(part)"
            ),
            worker("b", "\(Self.second);cdn.example up 0 - 3 6 c 5.5 20 900 \(part);* \(part)"),
            worker("lost", "\(Self.first);lost.example up 0 - 3 6 c 5.5 20 900 \(part)", age: 60_000),
        ]
        let list = HostList(workers, now: Self.now)
        #expect(list.hosts.map(\.host) == ["cdn.example", "b.example"])
        let host = try #require(list.hosts.first)
        #expect(host.stateText == "down for 40 s, next try in 8 s")
        #expect(host.running == 4 && host.allowed == 7 && host.rate == 4.5 && host.isAllowedFixed)
        #expect(host.medianMilliseconds == 80 && host.mostMilliseconds == 900)
        #expect(host.counts == HostFacts.Counts(waiting: 20, downloaded: 2, failures: [.timeout: 2]))
        #expect(list.others == HostFacts.Counts(waiting: 10, downloaded: 1, failures: [.timeout: 1]))
        #expect(list.waitText == "20 photos wait for cdn.example, next try in 8 s")

        let own = HostList(workers, now: Self.now, of: Self.second)
        #expect(own.hosts.map(\.host) == ["cdn.example"])
        #expect(own.hosts.first?.counts.waiting == 10 && own.others.waiting == 10)
        #expect(HostList(workers, now: Self.now, of: BatchID("20261121-090501999-0009")).isEmpty)
    }

    @Test func photosOfSeveralHeldHostsAreCountedTogether() {
        let text = """
            \(Self.first);a.example down 1 12500 0 1 - - - - 0:30:0:;b.example paused 0 60000 0 1 - 2.0 - - 0:6:0:;\
            c.example slow 0 30000 0 1 - - - - 0:1:0:;d.example up 0 - 4 4 - - - - 0:99:0:
            """
        #expect(HostList([worker("w", text)], now: Self.now).waitText == "37 photos wait for 3 hosts, next try in 13 s")
        #expect(HostList([], now: Self.now).waitText == nil)
        let one = HostList([worker("w", "\(Self.first);a.example down 1 0 0 1 - - - - 0:1:0:")], now: Self.now)
        #expect(one.waitText == "1 photo waits for a.example, next try now")
    }

    @Test func lyingWorkersCannotBreakTheList() {
        let part = "0:536870912:536870912:timeout=536870912"
        let entry =
            "cdn.example down 31536000000 31536000000 536870912 536870912 cr 100000 31536000000 31536000000 \(part)"
        let text = "\(Self.first)" + String(repeating: ";" + entry, count: 20)
        let workers = (0..<1000).map { number in
            worker(
                "\(number)",
                "\(text);h\(number).a.example up 0 - 0 4 - - - - \(part);h\(number).b.example up 0 - 0 4 - - - - ")
        }
        let list = HostList(workers, now: Self.now)
        #expect(list.hosts.count == HostList.most)
        #expect(list.hosts.first?.host == "cdn.example")
        #expect(list.hosts.first?.counts.waiting == 20_000 * 536_870_912)
        #expect(list.others.waiting == 536_870_912)
        #expect(list.hosts.first?.stateText == "down for 365d 00h, next try in 365d 00h")
    }

    // MARK: Remedies

    @Test func eachHostThatHoldsUpPhotosHasARemedy() {
        func remedies(
            _ state: HostFacts.State, waiting: Int = 5, _ change: (inout HostFacts) -> Void = { _ in }
        ) -> [Remedy] {
            var facts = host("cdn.example", state, waiting: waiting)
            (facts.running, facts.allowed) = (4, 4)
            change(&facts)
            return facts.remedies
        }
        #expect(remedies(.down).last == .retry(nil))
        #expect(remedies(.paused).last == .changeRate)
        #expect(remedies(.slow).first == .acceptSlowerDownloads)
        #expect(remedies(.up).isEmpty)
        #expect(remedies(.up) { $0.isAllowedFixed = true } == [.allowMoreConnections])
        #expect(
            remedies(.up) {
                $0.isAllowedFixed = true
                $0.running = 3
            }.isEmpty)
        #expect(remedies(.up) { ($0.rate, $0.isRateFixed) = (2, true) } == [.changeRate])
        #expect(remedies(.up) { $0.rate = 2 }.count == 1)
        #expect(remedies(.up, waiting: 0) { ($0.rate, $0.isRateFixed) = (2, true) }.isEmpty)
    }
}
