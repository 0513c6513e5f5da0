import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomWeb

/// The page of the hosts, with facts that a hostile worker has written.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct HostsPageTests {
    private func page(_ site: TestSite, _ path: String) throws -> HTTPReply {
        try site.fetch(
            "GET", path, headers: ["Authorization": "Bearer \(TestSite.token)", "Accept": "text/html"])
    }

    @Test func hostsAreShownWithTheirRemediesAndWithoutMarkup() throws {
        let site = try TestSite()
        #expect(try page(site, "/hosts").text.contains("No running worker has downloaded photos from a server"))
        let (first, second) = (try site.submit(photos: 2), try site.submit(photos: 2))
        let store = site.client.store
        let facts = """
            \(first) \(second);<script>alert(1)</script>.example down 40000 8000 0 1 - 0.5 82 190 0:212:3:timeout=4;\
            b&c.example up 0 - 2 4 c - - - 1:0:7:;* 1:1:2:
            """
        _ = try store.perform(store.heartbeat(worker: "planted", facts: [("hosts", facts)]))
        let all = try page(site, "/hosts")
        #expect(all.status == 200 && !all.text.contains("<script>alert"))
        for text in [
            "&lt;script&gt;alert(1)&lt;/script&gt;.example", "b&amp;c.example", "down for 4", "next try in ",
            "timeout 4",
            "at most 0.5/s", "p95 190 ms", "other hosts", "patience of the workers", "2 of 4",
        ] {
            #expect(all.text.contains(text), "\(text)")
        }
        let own = try page(site, "/hosts?batch=\(second)")
        #expect(own.text.contains("b&amp;c.example") && !own.text.contains("alert"))
        #expect(own.text.contains("Hosts of \(second)"))
        #expect(try page(site, "/hosts?batch=nothing").status == 404)
        #expect(try page(site, "/batches/\(first)").text.contains("/hosts?batch=\(first)\""))
        // The texts of a batch that all pages share.
        #expect(try page(site, "/cluster").text.contains("212 photos wait for &lt;script&gt;"))
    }
}
