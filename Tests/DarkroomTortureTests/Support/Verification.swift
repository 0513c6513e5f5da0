import Darkroom
import DarkroomCoding
import DarkroomCoordinator
import DarkroomRedis
import Foundation
import Testing

@testable import StoreInspection

/// What was found when a batch was looked at as a whole.
struct Verification {
    /// Its photos.
    var photos = 0
    /// How often its photos were asked for.
    var requests = 0
    /// Requests for photos that had been asked for before: work that was done again.
    var repeats: Int { requests - asked }
    /// How many of its photos were asked for.
    var asked = 0
    /// What does not hold, in words.
    var problems: [String] = []
}

extension TortureCluster {
    /// Looks at a batch as a whole, and records an issue for what does not hold, see ``examine(_:failures:)``.
    @discardableResult func verify(
        _ batch: BatchID, failures: [FailureReason: Int] = [:], _ location: SourceLocation = #_sourceLocation
    ) throws -> Verification {
        let verification = try examine(batch, failures: failures)
        let problems = verification.problems
        if !problems.isEmpty { keepFolder() }
        for problem in problems.prefix(20) { Issue.record("batch \(batch): \(problem)", sourceLocation: location) }
        if problems.count > 20 {
            Issue.record("batch \(batch): \(problems.count - 20) more", sourceLocation: location)
        }
        return verification
    }

    /// Looks at Redis, the manifest and every file of a batch: nothing lost, nothing counted twice, every file whole and the one that
    /// its photo makes, and nothing else beside them.
    /// - Parameter failures: how many of its photos must have failed, by reason; all others must be filtered.
    func examine(_ batch: BatchID, failures: [FailureReason: Int] = [:]) throws -> Verification {
        var verification = Verification()
        let submission = try submission(of: batch)
        verification.photos = submission.photos
        let requests = photos.requests(batch: submission.number)
        verification.requests = requests.values.reduce(0, +)
        verification.asked = requests.count
        var problems: [String] = []
        let lines = try manifestLines(of: batch, submission, &problems)
        problems += try redisProblems(of: batch, submission, lines, failures)
        problems += fileProblems(of: submission, lines)
        for index in 0..<submission.photos where requests[index] == nil {
            problems.append("photo \(index) was never asked for")
        }
        verification.problems = problems
        return verification
    }

    /// Looks at everything in the namespace, and records an issue for what does not hold of it, whatever happened before.
    func verifyStore(_ location: SourceLocation = #_sourceLocation) throws {
        let violations = try StoreReader(store).read().violations()
        #expect(violations == [], sourceLocation: location)
    }

    /// The manifest's lines by index.
    private func manifestLines(
        of batch: BatchID, _ submission: Submission, _ problems: inout [String]
    ) throws -> [Int: ManifestLine] {
        let reader = ManifestReader(output: submission.output)
        var lines: [Int: ManifestLine] = [:]
        if try reader.batches() != [batch] { problems.append("its output has manifests of \(try reader.batches())") }
        try reader.forEachLine { line in
            if lines.updateValue(line, forKey: line.index) != nil {
                problems.append("photo \(line.index) has two lines")
            }
            if line.batch != batch || line.url != photos.url(batch: submission.number, line.index) {
                problems.append("photo \(line.index) has the line of another: \(line)")
            }
        }
        return lines
    }

    private func redisProblems(
        of batch: BatchID, _ submission: Submission, _ lines: [Int: ManifestLine], _ failures: [FailureReason: Int]
    ) throws -> [String] {
        guard let facts = try store.facts(of: batch) else { return ["it is gone from Redis"] }
        let stateCodes = try store.stateCodes(of: batch, in: 0..<submission.photos + 1)
        var problems: [String] = []
        func demand(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { problems.append(message()) } }

        let failed = failures.values.reduce(0, +)
        demand(facts.state == .finished, "it is \(facts.state)")
        demand(
            facts.photos == submission.photos && stateCodes.count == submission.photos, "it has \(facts.photos) photos")
        demand(facts.counts.filtered == submission.photos - failed, "\(facts.counts.filtered) are counted as filtered")
        demand(facts.counts.failed == failed && facts.failures == failures, "failed are \(facts.failures)")
        demand(facts.counts.cancelled == 0, "\(facts.counts.cancelled) are counted as cancelled")
        demand(facts.counts.downloaded == 0, "\(facts.counts.downloaded) are counted as downloaded")
        let filtered = stateCodes.count { $0 == UInt8(ascii: "F") }
        demand(filtered == facts.counts.filtered, "\(filtered) letters say filtered, not \(facts.counts.filtered)")
        demand(facts.operationsEnded == facts.operations, "\(facts.operationsEnded) of \(facts.operations) have ended")

        demand(lines.count == submission.photos, "the manifest has \(lines.count) lines")
        for (index, stateCode) in stateCodes.enumerated() {
            let word = PhotoState(stateCode: stateCode)?.word
            demand(
                lines[index]?.state == word,
                "photo \(index) is \(word ?? "?"), its line says \(lines[index]?.state ?? "")")
        }
        let bytesOut = lines.values.reduce(0) { $0 + ($1.bytes ?? 0) }
        demand(facts.bytesOut == bytesOut, "\(facts.bytesOut) bytes are counted as written, the lines say \(bytesOut)")
        if failed == 0 {
            let bytesIn = (0..<submission.photos).reduce(0) { $0 + photos.source($1).byteCount }
            demand(facts.bytesIn == bytesIn, "\(facts.bytesIn) bytes are counted as read, the photos have \(bytesIn)")
        }

        for key in [store.keys.executing(batch), store.keys.queue(batch), store.keys.leaseExpiries(batch)] {
            demand(try store.connection.call(RedisCommand("EXISTS", key)).int == 0, "\(key) is there")
        }
        let leases = try store.connection.call(RedisCommand("ZRANGE", store.keys.leases, "0", "-1")).array ?? []
        let own = leases.compactMap(\.string).filter { $0.hasPrefix("\(batch)/") }
        demand(own.isEmpty, "there are leases: \(own)")
        return problems
    }

    private func fileProblems(of submission: Submission, _ lines: [Int: ManifestLine]) -> [String] {
        guard let names = FileManager.default.enumerator(atPath: submission.output) else {
            return ["its folder \(submission.output) cannot be read"]
        }
        var found: Set<String> = []
        var problems: [String] = []
        for case let name as String in names {
            let last = name.split(separator: "/").last ?? ""
            if last.hasPrefix(".") { problems.append("the temporary file \(name) is left") }
            let isFolder = names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            if !isFolder, !last.hasPrefix("."), !name.hasPrefix("manifest/") { found.insert(name) }
        }
        for (index, line) in lines.sorted(by: { $0.key < $1.key }) where line.state == PhotoState.filtered.word {
            guard let file = line.file, found.remove(file) != nil,
                let bytes = FileManager.default.contents(atPath: submission.output + "/" + file)
            else {
                problems.append("photo \(index) has no file \(line.file ?? "")")
                continue
            }
            let source = photos.source(index)
            if bytes != source.developed {
                problems.append("\(file) has \(bytes.count) bytes that \(source.file) does not make")
            }
            if line.bytes != bytes.count || line.sha256 != source.sha256 {
                problems.append(
                    "\(file) differs from its line: \(line.bytes ?? -1) bytes, SHA-256 \(line.sha256 ?? "")")
            }
        }
        for name in found.sorted() { problems.append("\(name) is there and has no line") }
        return problems
    }
}
