import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Testing

/// Tests how the options of a new batch are checked, with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(5)))
struct SubmissionCheckTests {
    let client: DarkroomClient
    private let photos = [("Lake.jpg", "http://photos.example/1"), ("Cabin.jpg", "http://photos.example/2")]
        .map { (name: $0.0, url: $0.1) }

    init() throws {
        let redis = RedisServer.current
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
    }

    private static let invalid: [(message: String, change: @Sendable (inout BatchOptions) -> Void)] = [
        ("name", { $0.name = "holi\u{1b}[31mdays" }),
        ("name", { $0.name = String(repeating: "x", count: 100_000) }),
        ("output", { $0.output = "photos" }),
        ("output", { $0.output = "/mnt/../etc" }),
        ("originals", { $0.originals = "originals" }),
        ("webhook", { $0.webhook = "garbage" }),
        ("webhook", { $0.webhook = "https://me:secret@photos.example/finished" }),
        ("webhook", { $0.webhook = "file:///finished" }),
        ("file name template", { $0.fileName = "same" }),
        ("file name template", { $0.fileName = "{foo}" }),
        ("file name template", { $0.fileName = "../{index}" }),
        ("window is \"0\"", { $0.window = 0 }),
    ]

    @Test(arguments: invalid.indices) func invalidOptionIsAnError(_ index: Int) async throws {
        let (message, change) = Self.invalid[index]
        var options = BatchOptions()
        change(&options)
        let error = await expectError(DarkroomError.self) { try await client.submit(photos, options: options) }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error.map { $0.message.utf8.count < 1000 } == true)
        #expect(try await client.batches().isEmpty)
    }

    @Test func foldersAreNormalised() async throws {
        var options = BatchOptions()
        options.output = "/mnt//photos/./new/"
        options.remoteOutput = true
        #expect(try await client.submit(photos, options: options).options.output == "/mnt/photos/new")
    }

    @Test(arguments: [("{name}", "LAKE.JPG"), ("{stem}", "lake.png"), ("{name}", "Lake.jpg")])
    func repeatedNamesAreAnError(_ template: String, _ name: String) async throws {
        var options = BatchOptions()
        options.fileName = template
        #expect(try await client.submit(photos, options: options).photos == 2)
        let repeated = photos + [(name: name, url: "http://photos.example/3")]
        let error = await expectError(DarkroomError.self) { try await client.submit(repeated, options: options) }
        #expect(error?.code == .invalidOptions && error?.message.contains("\"\(name)\"") == true)
        options.fileName = "{index}"
        #expect(try await client.submit(repeated, options: options).photos == 3)
    }
}
