import DarkroomModel
import DarkroomStorage
import Testing

@testable import DarkroomWorker

/// Which storage fault a worker checks while an outage lasts.
@Suite struct OutageFaultsTests {
    private struct Check: StorageCheck {
        let location: String
        func fault(room: Int) -> StorageFault? { nil }
        func retake(_ number: Int) {}
        func remove(_ remains: String) {}
    }

    private let one = BatchID("one"), two = BatchID("two")

    private func fault(_ location: String, room: Int, remains: String? = nil) -> StorageFault {
        StorageFault(.batch, detail: location, room: room, check: Check(location: location), remains: remains)
    }

    /// Two threads have faults of the same outage. The thread whose fault does not begin the outage adds its fault first.
    @Test func faultThatBeganTheOutageIsCheckedWithItsBatch() throws {
        var outages = OutageFaults()
        outages.add(fault("/two", room: 10), of: two, to: 1, begins: false)
        #expect(outages[1] == nil)
        outages.add(fault("/one", room: 5), of: one, to: 1, begins: true)
        outages.add(fault("/two", room: 20, remains: "a"), of: two, to: 1, begins: false)
        let faults = try #require(outages[1])
        #expect(faults.batch == one && faults.latest.check.location == "/one" && faults.latest.room == 20)
        #expect(faults.remains.map(\.path) == ["a"] && faults.remains.map(\.check.location) == ["/two"])
    }

    @Test func faultOfAnOutageThatIsOverIsLeftOut() {
        var outages = OutageFaults()
        outages.add(fault("/one", room: 0), of: one, to: 1, begins: true)
        outages.end(1)
        outages.add(fault("/one", room: 0), of: one, to: 1, begins: false)
        outages.change(1, to: fault("/one", room: 0))
        #expect(outages[1] == nil)
    }

    @Test func remainsAreBounded() throws {
        var outages = OutageFaults()
        for number in 0..<2000 {
            outages.add(fault("/one", room: 0, remains: "\(number)"), of: one, to: 1, begins: number == 0)
        }
        let faults = try #require(outages[1])
        #expect(faults.remains.count == 1000)
    }
}
