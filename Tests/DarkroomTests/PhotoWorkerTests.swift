import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import ErrorExpectations
import Testing

/// Tests the start, the end and the settings of a worker, with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(5)))
struct PhotoWorkerTests {
    let location: RedisLocation

    init() throws {
        let redis = RedisServer.current
        location = RedisLocation(redis.configuration, try Keys(namespace: redis.namespace()))
    }

    private func expectNoStart(of worker: PhotoWorker) async {
        let error = await expectError(DarkroomError.self) { try await worker.start() }
        #expect(error?.code == .alreadyStarted)
        #expect(error?.message == "the worker was started before; make a new PhotoWorker")
    }

    @Test func startsOnce() async throws {
        let worker = try PhotoWorker(location)
        try await worker.start()
        await expectNoStart(of: worker)
        await worker.stop()
        await expectNoStart(of: worker)
    }

    @Test func neverStartsAfterAStop() async throws {
        let stopped = try PhotoWorker(location)
        await stopped.stop()
        await expectNoStart(of: stopped)
        let abandoned = try PhotoWorker(location)
        abandoned.abandon()
        await expectNoStart(of: abandoned)
    }

    @Test func startsAgainAfterAnErrorOfRedis() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        server.terminate()
        let worker = try PhotoWorker(RedisLocation(server.configuration, try Keys()))
        let error = await expectError(DarkroomError.self) { try await worker.start() }
        #expect(error?.code == .redisUnreachable)
        try server.restart()
        try await worker.start()
        await worker.stop()
    }

    @Test func stopDuringTheStartStopsTheWorker() async throws {
        let port = try RedisServer.freePort()
        let server = try RedisServer(port: port)
        defer { server.stop() }
        let proxy = try TCPProxy(to: port)
        defer { proxy.close() }
        let log = Locked<[String]>([])
        let worker = try PhotoWorker(RedisLocation("redis://127.0.0.1:\(proxy.port)")) { event in
            log.withLock { $0.append(event.message) }
        }
        proxy.delay(.milliseconds(300))
        let start = Task { try await worker.start() }
        while proxy.accepted == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let stop = Task { await worker.stop() }
        try await start.value
        await stop.value
        #expect(log.withLock { $0.last } == "worker stopped")
    }

    private static let invalid: [(setting: String, change: @Sendable (inout PhotoWorkerConfiguration) -> Void)] = [
        ("downloads", { $0.downloads = 0 }),
        ("downloads", { $0.downloads = .max }),
        ("filtrations", { $0.filtrations = -1 }),
        ("filtrations", { $0.filtrations = .max }),
        ("gracePeriod", { $0.gracePeriod = .seconds(-1) }),
        ("gracePeriod", { $0.gracePeriod = .seconds(Int64.max) }),
        ("maxPixels", { $0.maxPixels = 0 }),
        ("maxPixels", { $0.maxPixels = .max }),
        ("photoTimeout", { $0.photoTimeout = .zero }),
        ("photoTimeout", { $0.photoTimeout = .seconds(Int64.max) }),
        ("maxWaitingBytes", { $0.maxWaitingBytes = 0 }),
        ("maxWaitingBytes", { $0.maxWaitingBytes = .max }),
        ("threadPriority", { $0.threadPriority = 1.5 }),
        ("threadPriority", { $0.threadPriority = .nan }),
        ("outputFolders", { $0.outputFolders = ["tmp"] }),
        ("outputFolders", { $0.outputFolders = ["/does/not/exist"] }),
        ("downloadRules.connectionsPerHost", { $0.downloadRules.connectionsPerHost = 0 }),
        ("downloadRules.maxBytes", { $0.downloadRules.maxBytes = 0 }),
        ("downloadRules.maxBytes", { $0.downloadRules.maxBytes = .max }),
        ("downloadRules.minBytesPerSecond", { $0.downloadRules.minBytesPerSecond = -1 }),
        ("downloadRules.maxRedirects", { $0.downloadRules.maxRedirects = -1 }),
        ("downloadRules.retries", { $0.downloadRules.retries = -1 }),
        ("downloadRules.retries", { $0.downloadRules.retries = .max }),
        ("downloadRules.connectTimeout", { $0.downloadRules.connectTimeout = .zero }),
        ("downloadRules.stallTimeout", { $0.downloadRules.stallTimeout = .seconds(-1) }),
        ("downloadRules.timeout", { $0.downloadRules.timeout = .seconds(-1) }),
        ("downloadRules.timeout", { $0.downloadRules.timeout = .seconds(Int64.max) }),
        ("downloadRules.userAgent", { $0.downloadRules.userAgent = "me\r\nX: y" }),
        ("downloadRules.allowedNetworks", { $0.downloadRules.allowedNetworks = ["10.0/8"] }),
        ("downloadRules.deniedHosts", { $0.downloadRules.deniedHosts = ["http://a/"] }),
        ("downloadRules.headers", { $0.downloadRules.headers = ["Accept"] }),
        ("downloadRules.proxy:", { $0.downloadRules.proxy = "socks5://a" }),
        ("downloadRules.certificateAuthorities", { $0.downloadRules.certificateAuthorities = "/etc/passwd" }),
        ("webhookHosts", { $0.webhookHosts = ["http://b"] }),
        ("downloadRules.folders", { $0.downloadRules.folders = ["/etc/passwd"] }),
    ]

    @Test(arguments: invalid.indices) func invalidSettingIsAnError(_ index: Int) throws {
        let (setting, change) = Self.invalid[index]
        var configuration = PhotoWorkerConfiguration()
        change(&configuration)
        let error = expectError(DarkroomError.self) { try PhotoWorker(location, configuration) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("\(setting) ") == true, "\(error?.message ?? "")")
    }
}
