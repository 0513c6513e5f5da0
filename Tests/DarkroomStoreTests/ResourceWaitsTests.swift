import DarkroomModel
import Testing

@testable import DarkroomStore

/// The resources for which the photos of a batch waited, and the fact `waited` of workers.
@Suite struct ResourceWaitsTests {
    private static let now = 1_795_252_101_000
    private static let first = BatchID("20261121-090501123-7f3a")
    private static let second = BatchID("20261121-090501999-0001")

    private func worker(_ text: String, age: Int = 0) -> WorkerFacts {
        WorkerFacts(id: "w", seen: Self.now - age, fields: ["waited": text])
    }

    private func waits(_ texts: String...) -> ResourceWaits {
        ResourceWaits(texts.map { worker($0) }, now: Self.now, of: Self.first)
    }

    @Test func samplesOfAllWorkersAreAdded() throws {
        var own = ResourceWaits()
        own.add(.host, samples: 6, host: "cdn.example")
        own.add(.filters)
        let text = WorkerFacts.text(of: [Self.first: own, Self.second: ResourceWaits()])
        #expect(text.contains("\(Self.first) filters=1,host=6 cdn.example"))
        let all = waits(text, "\(Self.first) host=2,downloads=1 -;\(Self.second) redis=900 -")
        #expect(all.samples == [.host: 8, .filters: 1, .downloads: 1])
        #expect(
            all.text() == "the host cdn.example (80 % of the time); the list of hosts shows the servers and what to do")
        let lost = ResourceWaits([worker(text, age: 60_000)], now: Self.now, of: Self.first)
        #expect(lost == ResourceWaits() && lost.text() == nil)
    }

    @Test func fewSamplesTellNothing() {
        #expect(waits("\(Self.first) filters=3 -").text() == nil)
        #expect(
            waits("\(Self.first) filters=4 -").text() == "filters (100 % of the time); more processors or more workers")
    }

    @Test(arguments: ResourceWaits.Resource.allCases)
    func everyResourceHasARemedy(resource: ResourceWaits.Resource) throws {
        let text = try #require(waits("\(Self.first) \(resource.rawValue)=9 -").text())
        #expect(text.contains(" (100 % of the time); "))
    }

    @Test(arguments: [
        "", ";", "\(first)", "\(first) filters=9", "\(first) filters=-9 -", "\(first) filters=99999999999999999999 -",
        "\(first) magic=9 -", "\(first) filters -", "x filters=9 -",
        String(repeating: "\(first) filters=9 -;", count: 200),
    ])
    func strangeTextNamesNoSamples(text: String) { #expect(waits(text).samples.isEmpty) }

    @Test func strangeHostIsNotShown() {
        #expect(waits("\(Self.first) host=9 \u{1b}[2J").host == nil)
        #expect(waits("\(Self.first) host=9 \(String(repeating: "a", count: 254))").host == nil)
    }

    @Test func textIsBounded() {
        var waits: [BatchID: ResourceWaits] = [:]
        for number in 0..<1000 {
            var own = ResourceWaits()
            for resource in ResourceWaits.Resource.allCases { own.add(resource, samples: 100_000, host: "a\(number)") }
            waits[BatchID("b\(number)")!] = own  // a valid id
        }
        #expect(WorkerFacts.text(of: waits).utf8.count <= 4000)
    }
}
