import DarkroomModel
import DarkroomStore
import DarkroomWorkerState
import Testing

@testable import DarkroomWorker

/// The samples for what the photos of a batch wait.
@Suite struct WaitSamplesTests {
    private static let batch = BatchID("20261121-090501123-7f3a")

    private func resource(
        _ hosts: [HostFacts] = [], _ change: (inout BatchLoad) -> Void = { _ in }
    ) -> WaitSamples.Sample? {
        var load = BatchLoad()
        change(&load)
        return WaitSamples.resource(of: Self.batch, load, hosts, filtrations: 2)
    }

    private func host(
        _ name: String, _ state: HostFacts.State = .up, allowed: Int = 4, rate: Double? = nil, waiting: Int
    ) -> HostFacts {
        var host = HostFacts(host: name, state: state)
        (host.allowed, host.rate) = (allowed, rate)
        host.batches = [Self.batch: HostFacts.Counts(waiting: waiting)]
        return host
    }

    @Test func mostPhotosDecide() {
        #expect(resource() == nil)
        #expect(resource { $0.downloading = 3 }?.resource == .downloads)
        #expect(resource { ($0.downloading, $0.downloaded) = (30, 2) }?.resource == .filters)
        #expect(resource { ($0.downloading, $0.downloaded) = (30, 1) }?.resource == .downloads)
        #expect(resource { ($0.downloading, $0.filtering) = (1, 2) }?.resource == .filters)
        #expect(resource { $0.isReporting = true }?.resource == .redis)
        #expect(
            resource {
                $0.isStorageBlocked = true
                $0.downloaded = 50
            }?.resource == .disk)
        let requested = resource { $0.requested = (5, "http://SLOW.example/a.jpg") }
        #expect(requested?.resource == .host && requested?.host == "slow.example")
    }

    @Test func hostsDecideForWhatTheirPhotosWait() {
        let hosts = [
            host("a.example", waiting: 5), host("b.example", .down, rate: 3, waiting: 6),
            host("c.example", rate: 3, waiting: 7),
        ]
        let most = resource(hosts)
        #expect(most?.resource == .host && most?.host == "b.example", "11 photos wait for hosts, 7 for a rate")
        let rate = resource(Array(hosts.dropFirst()))
        #expect(rate?.resource == .rate && rate?.host == "c.example")
        #expect(resource([host("d.example", .unknown, allowed: 0, waiting: 1)])?.resource == .names)
        #expect(resource(hosts) { $0.downloading = 12 }?.resource == .downloads)
    }

    @Test func samplesAreTakenEvery3SecondsAndBounded() throws {
        let samples = WaitSamples()
        let start = ContinuousClock.now
        func take(_ seconds: Double, _ batch: BatchID) -> [BatchID: ResourceWaits] {
            samples.waits(start + .seconds(seconds)) { [batch: (.host, "a.example")] }
        }
        #expect(take(0, Self.batch)[Self.batch]?.samples == [.host: 1])
        #expect(take(2, Self.batch)[Self.batch]?.samples == [.host: 1])
        #expect(take(3, Self.batch)[Self.batch]?.samples == [.host: 2])
        for number in 1...200 {
            _ = take(Double(number) * 6, try #require(BatchID("b\(number)" as String)))
            _ = take(Double(number) * 6 + 3, Self.batch)
        }
        let all = take(2000, Self.batch)
        #expect(all.count == WaitSamples.mostBatches && all[Self.batch]?.samples == [.host: 203])
    }
}
