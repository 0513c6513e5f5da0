import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Tests photos that wait for a slow host. Each test runs a worker and HTTP servers.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct WaitingForHostsTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    /// The configuration of a worker that finds `hosts` at these ports of this machine.
    private func configured(
        _ hosts: [String: UInt16], _ change: @escaping (inout WorkerSetup) -> Void = { _ in }
    ) -> (inout WorkerSetup) -> Void {
        {
            $0.downloads = 8
            $0.downloadRules.connectionsPerHost = 6
            $0.downloadRules.connectTo = hosts.map { "\($0.key):80:127.0.0.1:\($0.value)" }
            change(&$0)
            // No more requests than downloads, so that the server can count them.
            $0.hooks.transfer.maxRequests = $0.configuration.downloadSlots
        }
    }

    @Test func slowHostsOfALowPriorityListDoNotDelayAHighPriorityList() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        let hosts = (0..<4).map { "slow\($0).example" }
        let ports = hosts.map { ($0, slow.port) } + [("fast.example", fast.port)]
        try await darkroom.withWorker(configured(Dictionary(uniqueKeysWithValues: ports))) { _ in
            let low = try darkroom.submit(
                (0..<400).map { "http://\(hosts[$0 % 4])/photo" }, darkroom.options { $0.priority = .veryLow })
            #expect(await slow.wait { $0.running == 8 }, "8 downloads must run, the limit of the worker")
            let high = try darkroom.submit(
                (0..<20).map { _ in "http://fast.example/photo" },
                darkroom.options {
                    $0.priority = .veryHigh
                    $0.output = darkroom.folder + "/high"
                })
            try darkroom.wait(high)
            #expect(slow.log.running == 8)
            _ = try darkroom.store.perform(darkroom.store.cancel(low))
            try darkroom.wait(low)
        }
    }

    @Test func slowHostDoesNotDelayOtherHosts() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        try await darkroom.withWorker(configured(["slow.example": slow.port, "fast.example": fast.port])) { worker in
            let blocked = try darkroom.submit(
                (0..<4000).map { _ in "http://slow.example/photo" }, darkroom.options { $0.operationSize = 100 })
            #expect(await slow.wait { $0.running == 6 })
            let free = try darkroom.submit(
                (0..<100).map { _ in "http://fast.example/photo" },
                darkroom.options { $0.output = darkroom.folder + "/free" })
            try darkroom.wait(free)
            #expect(slow.log.running == 6)
            #expect(worker.core.read { $0.activity.photos } < 2000, "the number of waiting photos is not limited")
            _ = try darkroom.store.perform(darkroom.store.cancel(blocked))
            try darkroom.wait(blocked)
        }
    }

    @Test func listsOfASlowHostDoNotDelayOtherLists() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        try await darkroom.withWorker(configured(["slow.example": slow.port, "fast.example": fast.port])) { _ in
            let blocked = try (0..<5).map { number in
                try darkroom.submit(
                    (0..<400).map { _ in "http://slow.example/photo" },
                    darkroom.options { $0.output = darkroom.folder + "/slow\(number)" })
            }
            #expect(await slow.wait { $0.running == 6 })
            // Once these batches execute, all their photos in the worker wait for the slow host.
            for id in blocked { try darkroom.wait(id, "begun") { $0.executing > 0 } }
            for priority in [BatchPriority.normal, .low] {
                let free = try darkroom.submit(
                    (0..<20).map { _ in "http://fast.example/photo" },
                    darkroom.options {
                        $0.output = darkroom.folder + "/\(priority)"
                        $0.priority = priority
                    })
                try darkroom.wait(free, within: 20)
            }
            #expect(slow.log.running == 6)
            for id in blocked {
                _ = try darkroom.store.perform(darkroom.store.cancel(id))
                try darkroom.wait(id)
            }
        }
    }

    @Test func photosThatWaitForARetryDoNotDelayOtherPhotos() async throws {
        let busy = try HostileServer(["/photo": .answer(status: 503, headers: ["Retry-After: 50"])])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [busy, fast] { server.stop() } }
        try darkroom.withWorker(
            configured(["busy.example": busy.port, "fast.example": fast.port]) {
                $0.downloadRules.patience = .seconds(60)
            }
        ) { _ in
            let urls = (0..<24).map { "http://\($0 < 12 ? "busy" : "fast").example/photo" }
            let id = try darkroom.submit(urls, darkroom.options())
            try darkroom.wait(id, "the photos of the other host") { $0.counts.final == 12 }
            #expect(1...6 ~= busy.log.requests["/photo"] ?? 0, "the busy host must get no request in its pause")
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try darkroom.wait(id)
        }
    }

    @Test func retriedPhotosObeyTheDownloadLimit() throws {
        let route = HostileServer.Route.inTurn([
            .answer(status: 500), .drip(body: [1, 2], pause: .milliseconds(200)),
        ])
        let server = try HostileServer(Dictionary(uniqueKeysWithValues: (0..<6).map { ("/\($0)", route) }))
        defer { server.stop() }
        try darkroom.withWorker(
            configured([:]) {
                $0.downloads = 2
                $0.filtrations = 1
                $0.downloadRules.retries = 1
                $0.hooks.transfer.retryPauses = [.milliseconds(500)]
            }
        ) { _ in
            let id = try darkroom.submit((0..<6).map { server.url("/\($0)") }, darkroom.options())
            try darkroom.wait(id)
            #expect(server.log.requests.values.reduce(0, +) == 12)
            // The server may count the next request of a slot before it has ended the previous one.
            #expect(2...4 ~= server.log.mostRunning, "number of concurrent downloads")
        }
    }
}
