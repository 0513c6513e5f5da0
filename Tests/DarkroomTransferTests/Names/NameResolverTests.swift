import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// Looks names up on the thread of the test.
private final class LookUps {
    private(set) var answers: [String: NameCache.Answer] = [:]
    private(set) var resolver: NameResolver! = nil
    private let wakeup = Wakeup()

    init(
        _ server: String?, patience: Duration = .milliseconds(400), hosts: HostsFile = HostsFile(path: "/nowhere")
    ) {
        resolver = NameResolver(servers: server, patience: patience, hosts: hosts) { [unowned self] in
            answers[$0] = $1
        }
    }

    func ask(_ names: String..., priority: Int = 0) {
        for name in names { if let known = resolver.answer(for: name, priority: priority) { answers[name] = known } }
    }

    /// Runs the resolver until there are `count` answers.
    func wait(for count: Int) {
        let end = ContinuousClock.now + .seconds(60)
        while answers.count < count, ContinuousClock.now < end { step(until: end) }
    }

    func step(until end: ContinuousClock.Instant) {
        wakeup.wait(
            for: resolver.descriptor, events: Int16(POLLIN), until: min(end, resolver.nextTimeout() ?? end))
        resolver.run()
    }

    /// The addresses of a name; nil if there is no answer yet, or if the answer is a failure.
    subscript(name: String) -> [String]? { (try? answers[name]?.get())?.map(\.description) }

    func failure(_ name: String) -> NameError? {
        guard case .failure(let error) = answers[name] else { return nil }
        return error
    }

    func end() { resolver = nil }
}

@Suite(.timeLimit(.minutes(5))) struct NameResolverTests {
    @Test func findsAddresses() throws {
        let server = try NameServer([
            "a.test": .addresses(["192.0.2.1", "192.0.2.2"]), "b.test": .twice(["192.0.2.3"]),
        ])
        let names = LookUps(server.address)
        names.ask("a.test", "b.test", "gone.test")
        names.wait(for: 3)
        #expect(names["a.test"]?.sorted() == ["192.0.2.1", "192.0.2.2"])
        #expect(names["b.test"] == ["192.0.2.3"])
        #expect(names.failure("gone.test") == .notFound)
    }

    @Test func asksForEachNameOnce() throws {
        let server = try NameServer(["a.test": .held(["192.0.2.1"])])
        let names = LookUps(server.address, patience: .seconds(60))
        for _ in 1...100 { names.ask("a.test") }
        server.wait { $0["a.test"] != nil }
        for _ in 1...100 { names.ask("a.test") }
        server.release()
        names.wait(for: 1)
        let questions = server.questions
        for _ in 1...100 { names.ask("a.test", "gone.test") }
        names.wait(for: 2)
        for _ in 1...100 { names.ask("gone.test") }
        #expect(server.questions["a.test"] == questions["a.test"])
        #expect(try #require(questions["a.test"]) <= 2, "one for each family")
        #expect(try #require(server.questions["gone.test"]) <= 2)
    }

    @Test func failingServerIsReported() throws {
        let server = try NameServer(["a.test": .fails, "b.test": .garbage])
        let names = LookUps(server.address)
        names.ask("a.test", "b.test")
        names.wait(for: 2)
        for name in ["a.test", "b.test"] {
            guard case .noAnswer = names.failure(name) else {
                Issue.record("\(name): \(String(describing: names.answers[name]))")
                continue
            }
        }
    }

    @Test(arguments: [NameServer.Habit.silent, .fails, .another(["192.0.2.9"])])
    func otherServersAreAsked(habit: NameServer.Habit) throws {
        let first = try NameServer(["a.test": habit])
        let second = try NameServer(["a.test": .addresses(["192.0.2.1"])])
        let names = LookUps("\(first.address),\(second.address)")
        names.ask("a.test")
        names.wait(for: 1)
        #expect(names["a.test"] == ["192.0.2.1"])
        #expect(first.questions["a.test"] != nil)
    }

    /// Many silent names hold up other names only until their questions are regarded as lost.
    @Test func silentNamesHoldNothingUp() throws {
        let silent = (0..<200).map { "silent\($0).test" }
        var habits = Dictionary(uniqueKeysWithValues: silent.map { ($0, NameServer.Habit.silent) })
        habits["a.test"] = .addresses(["192.0.2.1"])
        habits["urgent.test"] = .addresses(["192.0.2.2"])
        let server = try NameServer(habits)
        let names = LookUps(server.address)
        for name in silent { names.ask(name) }
        names.ask("a.test")
        names.ask("urgent.test", priority: 1)
        while names["urgent.test"] == nil { names.step(until: .now + .seconds(60)) }
        #expect(names.answers.keys.allSatisfy { $0 == "urgent.test" }, "a silent name had to fail first")
        #expect(server.questions.keys.filter { $0.hasPrefix("silent") }.count <= NameResolver.maxQuestions * 2)
        while names["a.test"] == nil { names.step(until: .now + .seconds(60)) }
    }

    @Test func abandonedNamesAreNotAskedFor() throws {
        let silent = (0..<NameResolver.maxQuestions).map { "silent\($0).test" }
        let server = try NameServer(
            Dictionary(uniqueKeysWithValues: silent.map { ($0, NameServer.Habit.silent) }))
        let names = LookUps(server.address)
        for name in silent { names.ask(name) }
        for number in 0..<1000 { names.ask("late\(number).test") }
        for number in 0..<1000 { names.resolver.abandon("late\(number).test") }
        names.ask("gone.test")
        while names.answers["gone.test"] == nil { names.step(until: .now + .seconds(60)) }
        #expect(server.questions.keys.filter { $0.hasPrefix("late") }.isEmpty)
    }

    @Test func numberOfAddressesIsBounded() throws {
        let server = try NameServer(["many.test": .addresses((1...30).map { "192.0.2.\($0)" })])
        let names = LookUps(server.address)
        names.ask("many.test")
        names.wait(for: 1)
        #expect(names["many.test"]?.count == NameResolver.maxAddresses)
    }

    @Test(arguments: ["a..test", String(repeating: "a", count: 64) + ".test", String(repeating: "a.", count: 130)])
    func textThatIsNoNameIsNotFound(text: String) throws {
        let server = try NameServer([:])
        let names = LookUps(server.address)
        names.ask(text)
        names.wait(for: 1)
        #expect(names.answers[text] == .failure(.notFound))
        #expect(server.questions.isEmpty)
    }

    @Test func endsWithUnansweredQuestions() throws {
        let server = try NameServer(["a.test": .silent])
        let names = LookUps(server.address)
        names.ask("a.test")
        server.wait { $0["a.test"] != nil }
        names.end()
        #expect(names.answers.isEmpty)
    }

    // MARK: The file of hosts

    @Test func fileOfHostsIsReadFirstAndAgainAfterAChange() throws {
        let scratch = try ScratchFolder()
        let file = scratch.url.appending(path: "hosts")
        try "192.0.2.7 a.test other.test\n".write(to: file, atomically: true, encoding: .utf8)
        let server = try NameServer(["a.test": .addresses(["192.0.2.1"])])
        let names = LookUps(server.address, hosts: HostsFile(path: file.path))
        names.ask("a.test")
        #expect(names["a.test"] == ["192.0.2.7"])
        try "192.0.2.8 a.test\n2001:db8::1 a.test\n".write(to: file, atomically: true, encoding: .utf8)
        names.ask("a.test")
        #expect(names["a.test"] == ["192.0.2.8", "2001:db8::1"])
        #expect(server.questions.isEmpty)
    }

    @Test func readsTheFormatOfHosts() {
        let text =
            "# none\n127.0.0.1\tlocalhost  Box # here\n\nnonsense a\n::1 localhost\nfe80::1%lo0 zone\n300.1.1.1 b\n10.0.0.1"
        let parsed = HostsFile.parse(text)
        #expect(parsed["localhost"]?.map(\.description) == ["127.0.0.1", "::1"])
        #expect(parsed["box"]?.map(\.description) == ["127.0.0.1"])
        #expect(parsed["zone"]?.map(\.description) == ["fe80::1"])
        #expect(parsed.keys.sorted() == ["box", "localhost", "zone"])
    }

    // MARK: The cache

    @Test func answersExpire() {
        var cache = NameCache()
        let now = ContinuousClock.now
        let address = IPAddress("192.0.2.1")!
        cache.keep(.success([address]), for: "a", lifetime: .seconds(100), at: now)
        cache.keep(.success([address]), for: "short", lifetime: .zero, at: now)
        cache.keep(.success([address]), for: "long", lifetime: .seconds(1 << 31), at: now)
        cache.keep(.failure(.notFound), for: "missing", lifetime: .seconds(100), at: now)
        cache.keep(.failure(.noAnswer("x")), for: "failed", lifetime: .seconds(100), at: now)
        func known(_ seconds: Double) -> [String] {
            ["a", "short", "long", "missing", "failed"].filter {
                cache.answer(for: $0, at: now + .seconds(seconds)) != nil
            }
        }
        #expect(known(1) == ["a", "short", "long", "missing", "failed"])
        #expect(known(3) == ["a", "short", "long", "missing"])
        #expect(known(20) == ["a", "long", "missing"])
        #expect(known(90) == ["a", "long"])
        #expect(known(3599) == ["long"])
        #expect(known(3600).isEmpty)
    }

    @Test func cacheIsBounded() {
        var cache = NameCache(limit: 10)
        for number in 0..<25 {
            cache.keep(.failure(.notFound), for: "\(number)", lifetime: .zero, at: .now)
            cache.keep(.failure(.notFound), for: "\(number)", lifetime: .zero, at: .now)
            #expect(cache.count == min(number + 1, 10))
        }
        #expect((0..<25).filter { cache.answer(for: "\($0)", at: .now) != nil } == Array(15..<25))
    }
}
