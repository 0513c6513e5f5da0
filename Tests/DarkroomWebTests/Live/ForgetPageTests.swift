import Darkroom
import DarkroomTestSupport
import Testing

@testable import DarkroomWeb

/// The page that asks before a batch is forgotten.
@Suite(.redisServer, .timeLimit(.minutes(1))) struct ForgetPageTests {
    @Test func questionHasTheNumbersOfAnUnfinishedBatch() throws {
        let site = try TestSite()
        let id = try site.submit(photos: 7)
        let token = ["Authorization": "Bearer \(TestSite.token)"]
        let page = try site.fetch("GET", "/batches/\(id)/forget", headers: token)
        #expect(page.status == 200 && page.text.contains("7 of its 7 photos are not done"), "\(page.text)")
        let refusal = try site.call("DELETE", "/batches/\(id)")
        #expect(refusal.status == 409 && refusal.text.contains("7 of its 7 photos are not done"), "\(refusal.text)")
    }
}
