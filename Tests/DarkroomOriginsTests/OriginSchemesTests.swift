import DarkroomOrigins
import DarkroomTestSupport
import DarkroomText
import DarkroomTransfer
import ErrorExpectations
import Testing

@Suite(.timeLimit(.minutes(1))) struct OriginSchemesTests {
    private func schemes(_ change: (inout TransferConfiguration) -> Void = { _ in }) -> OriginSchemes {
        var configuration = TransferConfiguration()
        change(&configuration)
        return OriginSchemes(TransferEngine(configuration), FetchRules(configuration))
    }

    @Test func everySchemeHasAnOrigin() throws {
        let schemes = schemes()
        for scheme in URLScheme.all {
            _ = try schemes.origin(of: "\(scheme.name)://\(scheme.isFile ? "" : "host")/a.jpg")
        }
    }

    @Test(arguments: [
        ("ftp://host/a.jpg", TransferError.Code.schemeDenied), ("NO URL", .notAURL), ("http:///a.jpg", .notAURL),
        ("file://host/a.jpg", .notAURL),
    ]) func urlThatCannotBeFetchedHasNoOrigin(url: String, code: TransferError.Code) {
        let schemes = schemes()
        #expect(expectError(TransferError.self) { try schemes.origin(of: url) }?.code == code)
    }

    @Test(arguments: [
        ("http://host/a.jpg", true), ("HTTPS://host/a.jpg", true), ("file:///a.jpg", false), ("FILE:///a.jpg", false),
        ("ftp://host/a.jpg", false), ("NO URL", false),
    ]) func onlyPhotosOfTheWebAreKept(url: String, isKept: Bool) {
        #expect(OriginSchemes.isKept(url) == isKept)
    }

    @Test func webOriginFetchesFromServersThatTheRulesAllow() async throws {
        let server = try HostileServer(["/a.jpg": .answer(body: [1, 2])])
        let allowed = try schemes { $0.allowPrivate = true }.origin(of: server.url("/a.jpg"))
        #expect(allowed.problem(of: server.url("/a.jpg")) == nil)
        #expect(await allowed.fetch(server.url("/a.jpg")).body == [1, 2])
        let denied = try schemes().origin(of: server.url("/a.jpg"))
        #expect(denied.problem(of: server.url("/a.jpg"))?.code == .addressDenied)
        #expect(await denied.fetch(server.url("/a.jpg")).code == .addressDenied)
    }

    @Test func fileOriginReadsOnlyAllowedFolders() async throws {
        let scratch = try ScratchFolder()
        let url = "file://\(try scratch.write("a.jpg", [1, 2]))"
        let allowed = try schemes { $0.fileFolders = [scratch.path] }.origin(of: url)
        #expect(await allowed.fetch(url).body == [1, 2])
        #expect(try await schemes().origin(of: url).fetch(url).code == .fileDenied)
    }

    @Test func cancelledTransferEnds() async throws {
        let server = try HostileServer(["/slow": .stallHalfWay(body: [1], declared: 10)])
        let url = server.url("/slow")
        let origin = try schemes { $0.allowPrivate = true }.origin(of: url)
        let request = PhotoRequest(.example(url), of: .example())
        async let result = origin.fetch(request)
        #expect(await server.wait { $0.running == 1 })
        request.stop(.cancelled)
        #expect(await result.code == .cancelled)
        server.stop()
    }
}
