import DarkroomModel
import DarkroomRedis
import Foundation
import FuzzSupport
import Testing

@testable import DarkroomStore

/// Tests that each damaged reply of a script is decoded or rejected without a crash, and that computations with decoded
/// numbers do not overflow.
@Suite struct ReplyFuzzTests {
    private static let id = BatchID("20261121-090501123-7f3a")
    private static let held = HeldOperation(batch: id, number: 3, fencingToken: 7)

    private static func text(_ text: String) -> RedisValue { .bytes(Array(text.utf8)) }

    private static func list(_ values: RedisValue...) -> RedisValue { .array(values) }

    private struct Decoder {
        let name: String
        let sample: RedisValue
        let read: (RedisValue) throws -> Void
    }

    private static func decoder<Reply>(
        _ call: ScriptCall<Reply>, _ sample: [RedisValue], _ use: @escaping (Reply) -> Void = { _ in }
    ) -> Decoder {
        Decoder(name: call.script.name, sample: .array(sample)) { value in use(try call.reply(of: .success(value))) }
    }

    private static func decoders() throws -> [Decoder] {
        let store = BatchStore(try RedisConfiguration(url: "redis://127.0.0.1:1"), keys: try Keys(namespace: "none"))
        defer { store.connection.close() }
        let lost = list(text("\(id)"), .integer(3), .integer(7))
        let batch = list(
            text("\(id)"), text("2,so,40,60"), .integer(3), text("NNF"), .integer(2), text("entry"), .integer(4),
            text("NNN"),
            .integer(0), text("entry"))
        let steerings = list(.integer(9), text("s,16,"), text("\(id)"), text("3,,0,5"))
        let stateCodes = list(text("\(id)"), .integer(3), text("NNC"))
        let due = list(text("\(id) 2"), .integer(1_795_252_101_000), text("https://example.org"))
        let due1 = try #require(DueWebhook(member: "\(id) 2", score: 5, url: "https://example.org"))
        let ok = text("OK")
        return [
            decoder(store.submit(id, BatchOptions()), [ok, .integer(5)]),
            decoder(store.submit(id, BatchOptions()), [text("OUTPUT"), text("\(id)")]),
            decoder(store.feed(id, operation: 1, photos: 1, entry: [], digest: ""), [text("EXPECT"), .integer(8)]),
            decoder(store.seal(id, operations: 1, photos: 1), [text("DIFFERS"), .integer(8), .integer(9)]),
            decoder(
                store.claim(worker: "w", number: 1),
                [
                    ok, .integer(7), lost, text("2:5"), .integer(9), text("d,,8"), .integer(4), .integer(2),
                    .integer(520), batch,
                ]
            ) { reply in
                guard case .claimed(let claimed) = reply else { return }
                for operation in claimed.operations { compute(operation.held) }
                for held in claimed.lost { compute(held) }
                for controls in claimed.controls.values { compute(controls) }
                compute(claimed.cluster)
                _ = (claimed.version + 1, ContinuousClock.now + (claimed.again ?? .zero))
            },
            decoder(
                store.heartbeat(worker: "w"),
                [ok, lost, steerings, stateCodes, due, .integer(1), .integer(4), lost, .integer(1), .integer(1000)]
            ) { reply in
                for held in reply.lost { compute(held) }
                if let held = reply.staleFiles { compute(held) }
                for controls in reply.controls.values { compute(controls) }
                for webhook in reply.webhooks { _ = (webhook.batch, webhook.round + 1, webhook.score + 1) }
                compute(reply.cluster)
                _ = reply.version + 1
            },
            decoder(
                store.report(held, worker: "w", stateCodes: [], bytesIn: 0, bytesOut: 0),
                [ok, .integer(1), text("FFF"), .integer(9)]),
            decoder(store.repair(id), [ok, .integer(1), text("\(id)"), .integer(2), text("\(id)"), text("ERR no")]),
            decoder(store.release(held, worker: "w"), [text("ENDED"), text("FFF")]),
            decoder(store.forget(id), [text("UNFINISHED"), text("ready")]),
            decoder(store.cancel(id), [ok, .integer(1), .integer(0)]),
            decoder(store.cancelPhotos(id, [1...2]), [ok, .integer(1), .integer(2)]),
            decoder(store.cancelPhotos(id, [1...2]), [text("UNFED"), .integer(2)]),
            decoder(store.suspend(id, .everything, true), [ok, .integer(1)]),
            decoder(store.prioritize(id, .high), [ok, .integer(1)]),
            decoder(store.focus(id, nil), [ok, .integer(1), .integer(5)]),
            decoder(store.clearLimits(), [ok, .integer(1)]),
            decoder(store.addDependency(id, on: id, version: 1), [text("GONE"), text("\(id)")]),
            decoder(store.removeDependency(id, from: id), [ok, .integer(1)]),
            decoder(store.retry(id), [ok, .integer(1), .integer(2), .integer(3)]) { reply in
                if case .retried(let photos, let notKept, let next) = reply { _ = photos + notKept + (next ?? 0) }
            },
            decoder(store.restoreEntry(id, operation: 1, entry: []), [text("NEEDLESS")]),
            decoder(store.takeWebhook(due1, for: .seconds(1)), [ok, .integer(1), .integer(5)]),
        ]
    }

    /// The computations that workers perform with the number and fencing token of an operation.
    private static func compute(_ held: HeldOperation) { _ = ((held.number - 1) * 1000 + 1000, held.fencingToken + 1) }

    private static func compute(_ controls: BatchControls) {
        if let focus = controls.focus { _ = (focus.photos.upperBound + 1, focus.photos.count) }
    }

    private static func compute(_ cluster: ClusterControls) {
        _ = (cluster.downloads ?? 0) + 4 * (cluster.filtrations ?? 0)
    }

    @Test func decodesOrRejectsDamagedManifestLines() throws {
        let run = FuzzRun("lines of manifests", count: 20_000)
        print(run)
        let record = PhotoRecord(index: 5, name: "a", url: "http://a.example/1.jpg")
        var line = ManifestLine(batch: Self.id, record: record, state: .filtered)
        (line.attempts, line.width, line.height, line.bytes) = (1, 2, 3, 4)
        (line.downloadMilliseconds, line.filterMilliseconds, line.writeMilliseconds) = (5, 6, 7)
        var text: [UInt8] = []
        line.append(to: &text)
        let sample = String(decoding: text, as: UTF8.self)
        let decoder = UntrustedJSON()
        #expect(try decoder.decode(ManifestLine.self, from: text) == line)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var generator = SeededGenerator(seed: seed)
            let fields = ["index", "attempts", "width", "height", "bytes", "downloadMilliseconds", "writeMilliseconds"]
            let field = generator.pick(fields)
            let number = "\(generator.pick(ReplyDamage.numbers))"
            let value = generator.chance(50) ? number : generator.pick(ReplyDamage.texts)
            let changed = sample.replacing(try Regex("\"\(field)\":[0-9]+"), with: "\"\(field)\":\(value)")
            var bytes = Array(changed.utf8)
            if generator.chance(30) {
                var mutator = ByteMutator(generator)
                bytes = mutator.mutate(bytes)
            }
            // The decoder may reject a damaged line.
            guard let line = try? decoder.decode(ManifestLine.self, from: bytes) else { continue }
            // The sums and differences that readers compute must not overflow.
            let numbers = [
                line.attempts, line.width, line.height, line.bytes, line.downloadMilliseconds, line.filterMilliseconds,
                line.writeMilliseconds,
            ]
            _ = numbers.compactMap { $0 }.reduce(line.index - StoredBounds.photos.upperBound, +)
            #expect(StoredBounds.indexes.contains(line.index))
            #expect(numbers.allSatisfy { $0.map(StoredBounds.numbers.contains) ?? true })
        }
    }

    @Test func decodesOrRejectsDamagedReplies() throws {
        let run = FuzzRun("replies of scripts", count: 60_000)
        print(run)
        let decoders = try Self.decoders()
        for decoder in decoders { #expect(throws: Never.self, "\(decoder.name)") { try decoder.read(decoder.sample) } }
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var damage = ReplyDamage(seed)
            let decoder = damage.generator.pick(decoders)
            do {
                try decoder.read(damage.damaged(decoder.sample))
            } catch is StoreError {
                continue
            }
        }
    }
}

/// Replaces, removes and repeats parts of a reply.
struct ReplyDamage {
    var generator: SeededGenerator
    private var mutator: ByteMutator

    static let numbers = [
        Int.min, Int.min + 1, Int.max, Int.max - 1, -1, 0, 1, 1 << 29, 1 << 31, 1 << 53, (1 << 53) + 1, -(1 << 53),
        1001,
    ]
    static let texts = [
        "", "-", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "1e308", "nan", ",,,",
        "4,,0,9223372036854775807",
        "0,,-5,5", "s,9223372036854775807,-1", " ", "\u{0}", "20261121-090501123-7f3a -9223372036854775808",
    ]

    init(_ seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        mutator = ByteMutator(SeededGenerator(seed: seed &+ 1))
    }

    /// The reply with one to four faults.
    mutating func damaged(_ reply: RedisValue) -> RedisValue {
        var reply = reply
        for _ in 0..<generator.number(in: 1..<5) { reply = change(reply) }
        return reply
    }

    private mutating func change(_ value: RedisValue) -> RedisValue {
        if case .array(var elements) = value, !elements.isEmpty, generator.chance(85) {
            let place = generator.number(in: 0..<elements.count)
            switch generator.number(in: 0..<8) {
            case 0: elements.remove(at: place)
            case 1: elements.insert(elements[generator.number(in: 0..<elements.count)], at: place)
            default: elements[place] = change(elements[place])
            }
            return .array(elements)
        }
        if case .bytes(let bytes) = value, generator.chance(40) { return .bytes(mutator.mutate(bytes)) }
        switch generator.number(in: 0..<10) {
        case 0: return .null
        case 1: return .array([])
        case 2: return .error("ERR")
        case 3: return .status("OK")
        case 4...6: return .integer(generator.pick(Self.numbers))
        default: return .bytes(Array(generator.pick(Self.texts).utf8))
        }
    }
}
