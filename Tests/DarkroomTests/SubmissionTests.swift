import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Submissions of lists by programs, with a real Redis server: how lists are read, and what would happen.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct SubmissionTests {
    let client: DarkroomClient
    let scratch: ScratchFolder

    init() throws {
        let redis = RedisServer.current
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
        scratch = try ScratchFolder()
    }

    /// A table whose columns must be named, with `count` photos.
    private func table(_ count: Int) throws -> PhotoList {
        let rows = (0..<count).map { "photo \($0),http://h/\($0).jpg,http://photos.example/\($0).jpg\n" }
        var list = PhotoList(try scratch.write("list.csv", "title,thumbnail,address\n" + rows.joined()))
        list.urlColumn = "address"
        list.nameColumn = "1"
        return list
    }

    @Test func listIsReadAsTheFormSays() async throws {
        var submission = Submission(try table(20))
        submission.list.limit = 3
        let examined = try await client.examine(submission)
        #expect(examined.firstFiles == (0..<3).map { "00000\($0)-photo \($0).*" })
        #expect(try await client.submit(submission).photos == 3)
        submission.list.limit = nil
        submission.list.sample = 5
        submission.list.seed = 7
        let sampled = try await client.submit(submission)
        #expect(sampled.photos == 5)
        #expect(try await client.resume(sampled.id, from: submission.list).photos == 5)
        // Another seed takes other photos.
        submission.list.seed = 8
        let (id, other) = (sampled.id, submission.list)
        let differs = await expectError(DarkroomError.self) { try await client.resume(id, from: other) }
        #expect(differs?.code == .listDiffers)
        submission.list.seed = nil
        let unknown = submission.list
        let missing = await expectError(DarkroomError.self) { try await client.resume(id, from: unknown) }
        #expect(missing?.code == .invalidOptions && missing?.field == .sample)
        submission.list.urlColumn = "no such column"
        let wrong = submission
        #expect(await expectError(DarkroomError.self) { try await client.submit(wrong) }?.code == .listUnreadable)
    }

    @Test func subfoldersAndQuotesAreChosen() async throws {
        try scratch.makeFolder("photos/below")
        try scratch.write("photos/a.jpg", "x")
        try scratch.write("photos/below/b.jpg", "x")
        var submission = Submission(scratch.path("photos"))
        #expect(try await client.examine(submission).photos == 1)
        submission.list.isRecursive = true
        #expect(try await client.examine(submission).photos == 2)
        // The output folder in the folder of photos is not a part of the list.
        submission.output = scratch.path("photos/below")
        #expect(try await client.examine(submission).photos == 1)
        submission.output = scratch.path("photos")
        let inside = submission
        let error = await expectError(DarkroomError.self) { try await client.submit(inside) }
        #expect(error?.code == .outputUnusable && error?.message.contains("would develop them again") == true)

        var quoted = Submission(try scratch.write("quoted.tsv", "name\turl\n\"a\thttp://h/1\nb\"\thttp://h/2\n"))
        quoted.list.quotes = .literal
        #expect(try await client.examine(quoted).photos == 2)
        quoted.list.quotes = .csv
        #expect(try await client.examine(quoted).photos == 1)
    }

    @Test func examinationStoresNothing() async throws {
        let photos = [
            (name: "a", url: "http://h/1"), (name: "b", url: "NO URL"), (name: "a", url: "ftp://h/2"),
            (name: "c", url: "http://h/3"),
        ]
        var submission = Submission(PhotoList(photos))
        submission.output = scratch.path("out")
        submission.encoding = PhotoEncoding("format=webp")
        let found = try await client.examine(submission)
        #expect(found.photos == 4 && found.failures == [.notAURL: 1, .schemeDenied: 1])
        #expect(found.unusable.map(\.index) == [1, 2] && found.unusable.map(\.line) == [nil, nil])
        #expect(found.unusable.map(\.reason) == [.notAURL, .schemeDenied] && found.unusable[0].name == "b")
        #expect(found.repetitions == 1 && found.repeatedNames == ["a"] && found.comparedPhotos == 4)
        #expect(found.firstFiles == ["000000-a.webp", "000001-b.webp", "000002-a.webp"])
        #expect(found.lastFiles == ["000003-c.webp"] && found.outputExists == false && found.outputHolder == nil)
        #expect(found.options.fileName == "{index}-{name}" && found.listedPhotos == nil && found.seed == nil)
        #expect(!scratch.exists("out"))
        #expect(try await client.batches().isEmpty)

        let batch = try await client.submit(submission)
        let taken = submission
        let refused = await expectError(DarkroomError.self) { _ = try await client.examine(taken) }
        #expect(refused?.code == .outputTaken && refused?.message.contains("\(batch.id)") == true)
        submission.overwrite = true
        #expect(try await client.examine(submission).outputExists == true)
        submission.list = PhotoList([(name: String, url: String)]())
        let empty = submission
        #expect(await expectError(DarkroomError.self) { _ = try await client.examine(empty) }?.code == .listEmpty)
    }
}
