import DarkroomCoordinator
import DarkroomModel
import DarkroomTestSupport
import Testing

@Suite struct WebListTests {
    @Test func readsListsFromTheWeb() throws {
        let server = try HostileServer([
            "/list.txt": .answer(body: PhotoListReaderTests.text),
            "/list.gz": .answer(body: gzipped(PhotoListReaderTests.text)),
            "/moved": .redirect(to: "/list.txt"),
            "/list.csv": .answer(body: Array("http://a/1?x,Cat\n".utf8)),
        ])
        defer { server.stop() }
        for path in ["/list.txt", "/list.gz", "/moved"] {
            let reader = try PhotoListReader(server.url(path))
            for _ in 1...2 {
                #expect(try all(reader).map(\.url) == PhotoListReaderTests.urls)
                try reader.rewind()
            }
        }
        // The ending of the URL's path counts like a file's; the query does not.
        #expect(try all(PhotoListReader(server.url("/list.csv"))).map(\.name) == ["Cat"])
    }

    @Test func fetchesAListOnce() throws {
        let server = try HostileServer(["/list.txt": .answer(body: PhotoListReaderTests.text)])
        defer { server.stop() }
        let reader = try PhotoListReader(server.url("/list.txt"))
        _ = try all(reader)
        try reader.rewind()
        _ = try all(reader)
        #expect(server.log.requests["/list.txt"] == 1)
    }

    @Test func saysWhyAListWasNotFetched() throws {
        let server = try HostileServer([
            "/cut": .closeHalfWay(body: PhotoListReaderTests.text, declared: 10_000_000),
            "/page": .answer(body: Array("<!DOCTYPE html><html></html>".utf8)),
        ])
        defer { server.stop() }
        for (path, code, found) in [
            ("/none?key=secret", .notFound, "404"), ("/cut", .unreadable, "fetching it failed"),
            ("/page", .notAList, "HTML"),
        ] as [(String, PhotoListError.Code, String)] {
            let error = try #require(throws: PhotoListError.self) { try all(PhotoListReader(server.url(path))) }
            #expect(error.code == code, "\(error)")
            #expect(error.description.contains(found), "\(error)")
            #expect(error.description.contains(":\(server.port)/") && !error.description.contains("secret"))
        }
    }

    @Test func letsGoOfAListThatIsNotReadToItsEnd() async throws {
        let server = try HostileServer(["/endless": .endless])
        defer { server.stop() }
        let error = #expect(throws: PhotoListError.self) { try PhotoListReader(server.url("/endless")) }
        #expect(error?.code == .notAList)
        #expect(await server.wait { $0.departures["/endless"] == 1 })
    }
}
