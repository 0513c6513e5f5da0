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

    private typealias Change = @Sendable (inout Submission) -> Void

    /// The field, the rest of the message, and the invalid value.
    private static let invalid: [(field: Submission.Field, message: String, change: Change)] = [
        (.isRecursive, "only for a list that is read", { $0.list.isRecursive = true }),
        (.urlColumn, "only for a list that is read", { $0.list.urlColumn = "2" }),
        (.nameColumn, "only for a list that is read", { $0.list.nameColumn = "" }),
        (.quotes, "only for a list that is read", { $0.list.quotes = .csv }),
        (.limit, "only for a list that is read", { $0.list.limit = 1 }),
        (.sample, "only for a list that is read", { $0.list.sample = 1 }),
        (.seed, "only for a list that is read", { $0.list.seed = 1 }),
        (.limit, " 0: at least 1", { $0.list = limited { $0.limit = 0 } }),
        (.limit, ": there is sample, too", { $0.list = limited { ($0.limit, $0.sample) = (1, 1) } }),
        (.sample, " -9223372036854775808: at least 1", { $0.list = limited { $0.sample = .min } }),
        (.seed, " -1: at least 0", { $0.list = limited { ($0.sample, $0.seed) = (1, -1) } }),
        (.seed, ": only with sample", { $0.list = limited { $0.seed = 1 } }),
        (.filters, ": character 1: there is no filter \"sepa\"", { $0.filters = [PhotoFilter("sepa")] }),
        (
            .filters, ": each rendition has filters",
            {
                $0.filters = [.sepia()]
                $0.renditions = [PhotoRendition("a", filters: [])]
            }
        ),
        (.renditions, ": character 3: ", { $0.renditions = [PhotoRendition("a b", filters: [])] }),
        (.encoding, ": character ", { $0.encoding = PhotoEncoding("quality=500") }),
        (.quality, ": no effect on png", { $0.encoding = PhotoEncoding("format=png; quality=50") }),
        (.maxBytes, ": no effect on png", { $0.encoding = PhotoEncoding("format=png; max-bytes=1M") }),
        (.name, ": it has invisible characters", { $0.name = "holi\u{1b}[31mdays" }),
        (.name, ": 100000 bytes; at most 200", { $0.name = String(repeating: "x", count: 100_000) }),
        (.output, " \"photos\": the path must be absolute", { $0.output = "photos" }),
        (.output, " \"/mnt/../etc\": the path must be absolute", { $0.output = "/mnt/../etc" }),
        (.output, ": the path must be absolute", { $0.output = "/mnt/a\u{0}b" }),
        (.originals, " \"originals\": the path must be absolute", { $0.originals = "originals" }),
        (.webhook, ": garbage; write it like", { $0.webhook = "garbage" }),
        (.webhook, ": the URL has a user", { $0.webhook = "https://me:secret@photos.example/finished" }),
        (.webhook, ": a file: URL cannot", { $0.webhook = "file:///finished" }),
        (.fileName, ": file name template", { $0.fileName = "same" }),
        (.fileName, ": file name template", { $0.fileName = "" }),
        (.fileName, ": file name template", { $0.fileName = "{foo}" }),
        (.fileName, ": file name template", { $0.fileName = "../{index}" }),
        (.operationSize, " 1001: from 1 to 1000", { $0.operationSize = 1001 }),
        (.lease, " 5s: at least 6s", { $0.lease = .seconds(5) }),
        (.lease, ": at most 24h", { $0.lease = .seconds(Int64.max) }),
        (.window, " 0: at least 1", { $0.window = 0 }),
        (.retain, ": at least 0s", { $0.retain = .milliseconds(-1) }),
        (.after, ": 101 batches, at most 100", { $0.after = (0..<101).map { BatchID("b\($0)")! } }),
        (.afterSuccess, ": name the batches that must succeed, with after", { $0.afterSuccess = true }),
        (.replicas, " -1: at least 0", { $0.replicas = -1 }),
    ]

    /// A list at a location.
    private static func limited(_ change: (inout PhotoList) -> Void) -> PhotoList {
        var list = PhotoList("photos.csv")
        change(&list)
        return list
    }

    @Test(arguments: invalid.indices) func errorNamesTheField(_ index: Int) async throws {
        let (field, message, change) = Self.invalid[index]
        var form = Submission(PhotoList(photos))
        change(&form)
        let submission = form
        let error = await expectError(DarkroomError.self) { try await client.submit(submission) }
        #expect(error?.code == .invalidOptions && error?.field == field)
        #expect(
            error?.message.hasPrefix(field.rawValue) == true && error?.message.contains(message) == true,
            "\(error as Any)")
        #expect(error.map { $0.message.utf8.count < 1000 && !$0.message.contains("me:secret") } == true)
        #expect(await expectError(DarkroomError.self) { _ = try await client.examine(submission) } != nil)
        #expect(try await client.batches().isEmpty)
    }

    @Test func foldersAreNormalised() async throws {
        var form = Submission(PhotoList(photos))
        form.output = "/mnt//photos/./new/"
        form.remoteOutput = true
        #expect(try await client.submit(form).options.output == "/mnt/photos/new")
    }

    @Test(arguments: [("{name}", "LAKE.JPG"), ("{stem}", "lake.png"), ("{name}", "Lake.jpg")])
    func repeatedNamesAreAnError(_ template: String, _ name: String) async throws {
        var form = Submission(PhotoList(photos))
        form.fileName = template
        #expect(try await client.submit(form).options.fileName == template)
        form.list = PhotoList(photos + [(name: name, url: "http://photos.example/3")])
        let repeated = form
        let error = await expectError(DarkroomError.self) { try await client.submit(repeated) }
        #expect(error?.field == .fileName && error?.message.contains("\"\(name)\"") == true)
        form.fileName = "{index}"
        #expect(try await client.submit(form).photos == 3)
    }
}
