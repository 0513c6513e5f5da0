import Darkroom
import Testing

@testable import DarkroomCommand
@testable import DarkroomStore

/// The test data for the pictures of `watch`: batches, workers and failures.
enum WatchScene {
    static let start = ContinuousClock.now
    static let holidays = BatchID("20261121-090501123-7f3a")
    static let archive = BatchID("20261121-091000000-00c2")
    static let old = BatchID("20261120-120000000-4e11")
    static let now = 1_795_252_101_000

    /// The facts of an executing batch, `seconds` after the start of the scene.
    static func holidays(at seconds: Int, _ changes: [String: String] = [:]) throws -> BatchFacts {
        let done = 1000 + 40 * seconds
        let fields = [
            "state": "executing", "name": "holidays in Copán", "filters": "sepia=0.8", "output": "/mnt/photos/2026",
            "photos": "10000", "count.downloaded": "\(200 + 5 * seconds)", "count.filtered": "\(done - 55)",
            "count.failed": "55", "sealed": "1", "operations": "200", "operations.ended": "20", "executing": "4",
            "bytes.in": "123456789", "bytes.out": "45600000", "submitted": "\(now - 60_000)",
            "started": "\(now - 50_000)", "size": "50", "feeder.seen": "\(now)",
        ]
        let reasons = [.timeout: "30", .httpServerError: "20", .damaged: "5"] as [FailureReason: String]
        return try facts(holidays, fields.merging(changes) { $1 }, reasons)
    }

    /// The facts of a batch with these fields. The other fields are those of a batch without photos.
    static func facts(
        _ id: BatchID, _ fields: [String: String], _ reasons: [FailureReason: String] = [:]
    ) throws -> BatchFacts {
        let zero = [
            "submitted", "feeder.seen", "round", "sealed", "photos", "operations", "operations.ended",
            "operations.kept", "executing", "count.downloaded", "count.filtered", "count.failed", "count.cancelled",
            "bytes.in", "bytes.out",
        ]
        var all = Dictionary(uniqueKeysWithValues: BatchOptions().fields.map { ($0.field, $0.value) })
        for field in zero { all[field] = "0" }
        let counts = Dictionary(uniqueKeysWithValues: reasons.map { ($0.stateCode, $1) })
        return try #require(BatchFacts(id: id, fields: all.merging(fields) { $1 }, reasons: counts))
    }

    static func archived() throws -> BatchFacts {
        let fields = [
            "state": "ready", "photos": "1250000", "operations": "25000", "sealed": "0", "size": "50",
            "feeder.seen": "\(now)", "submitted": "\(now - 5000)", "flag.suspended": "1",
        ]
        return try facts(archive, fields)
    }

    static func finished() throws -> BatchFacts {
        let fields = [
            "state": "finished", "name": "日本の写真", "photos": "500", "operations": "10", "operations.ended": "10",
            "sealed": "1", "count.filtered": "498", "count.failed": "2", "started": "\(now - 90_000)",
            "finished": "\(now - 80_000)",
        ]
        return try facts(old, fields, [.tooLarge: "2"])
    }

    static let workers = [
        WorkerFacts(
            id: "web1-4242-abc123", seen: now - 1000,
            fields: [
                "downloads": "32", "downloading": "31", "filtrations": "8", "filtering": "8", "rate": "30",
                "operations": "\(holidays)/21 \(holidays)/22 \(archive)/3",
            ]),
        WorkerFacts(
            id: "web2-77-def", seen: now - 1000,
            fields: [
                "downloads": "32", "downloading": "0", "filtrations": "8", "filtering": "0", "rate": "0",
                "operations": "", "refused": "\(holidays): /mnt/photos/2026 is not in a folder of this worker",
            ]),
    ]

    static let failures = [
        WatchSnapshot.Failure(
            index: 1402, name: "IMG_1402 with a name that is longer than a narrow terminal.jpg", reason: "timeout",
            detail: "nothing came within 30 s from photos.example"),
        WatchSnapshot.Failure(index: 88, name: "日本語の写真の名前.jpg", reason: "http-5xx", detail: "HTTP status 503"),
        WatchSnapshot.Failure(index: 7, name: "b\u{1b}[2Jad", reason: "damaged", detail: "premature end of JPEG file"),
    ]

    /// A view of one batch after four seconds.
    static func oneBatch(_ changes: [String: String] = [:], hasKeys: Bool = true) throws -> WatchModel {
        var model = WatchModel(redis: "redis://queue:6379", namespace: "darkroom", watched: holidays, hasKeys: hasKeys)
        for seconds in [0, 2, 4] {
            var snapshot = WatchSnapshot(now: now, batches: [try holidays(at: seconds, changes)], workers: workers)
            snapshot.failures = failures
            model.take(snapshot, at: start + .seconds(seconds))
        }
        return model
    }

    /// A view of all batches after four seconds.
    static func allBatches(_ change: (inout WatchSnapshot) -> Void = { _ in }) throws -> WatchModel {
        var model = WatchModel(redis: "redis://queue:6379", namespace: "darkroom", watched: nil, hasKeys: true)
        for seconds in [0, 2, 4] {
            let batches = [try finished(), try holidays(at: seconds), try archived()]
            var snapshot = WatchSnapshot(now: now, batches: batches, workers: workers)
            change(&snapshot)
            model.take(snapshot, at: start + .seconds(seconds))
        }
        return model
    }
}
