import Darkroom
import DarkroomCoding
import DarkroomCoordinator
import DarkroomRedis
import DarkroomStorage
import Foundation
import Testing

@testable import StoreInspection

/// The results of the verification of a batch.
struct Verification {
    /// The number of photos.
    var photos = 0
    /// The number of requests for photos of the batch.
    var requests = 0
    /// The number of requests for photos that had been requested before, which shows how much work was repeated.
    var repeats: Int { requests - asked }
    /// The number of photos with at least one request.
    var asked = 0
    /// Descriptions of the problems.
    var problems: [String] = []
}

extension TortureCluster {
    /// Verifies a batch, and records an issue for each problem, see ``examine(_:failures:)``.
    @discardableResult func verify(
        _ batch: BatchID, failures: [FailureReason: Int] = [:], _ location: SourceLocation = #_sourceLocation
    ) throws -> Verification {
        let verification = try examine(batch, failures: failures)
        let problems = verification.problems
        if !problems.isEmpty { keepFolder() }
        for problem in problems.prefix(20) { Issue.record("batch \(batch): \(problem)", sourceLocation: location) }
        if problems.count > 20 {
            Issue.record("batch \(batch): \(problems.count - 20) more problems", sourceLocation: location)
        }
        return verification
    }

    /// Compares Redis, the manifest and every file of a batch: no photo may be lost or counted twice, every file must
    /// equal the developed photo, and there may be no other files.
    /// - Parameter failures: The expected number of failed photos by reason. All other photos must be filtered.
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
            problems.append("photo \(index) was never requested")
        }
        verification.problems = problems
        return verification
    }

    /// Checks the invariants of the whole namespace, and records an issue for each violation.
    func verifyStore(_ location: SourceLocation = #_sourceLocation) throws {
        let violations = try StoreReader(store).read().violations()
        #expect(violations == [], sourceLocation: location)
    }

    /// The manifest lines by photo index.
    private func manifestLines(
        of batch: BatchID, _ submission: Submission, _ problems: inout [String]
    ) throws -> [Int: ManifestLine] {
        let reader = StorageSchemes.place(submission.output).results.manifest
        var lines: [Int: ManifestLine] = [:]
        if try reader.batches() != [batch] { problems.append("its output has manifests of \(try reader.batches())") }
        try reader.forEachLine { line in
            if lines.updateValue(line, forKey: line.index) != nil {
                problems.append("photo \(line.index) has two lines")
            }
            if line.batch != batch || line.url != photos.url(batch: submission.number, line.index) {
                problems.append("photo \(line.index) has the line of another photo: \(line)")
            }
        }
        return lines
    }

    private func redisProblems(
        of batch: BatchID, _ submission: Submission, _ lines: [Int: ManifestLine], _ failures: [FailureReason: Int]
    ) throws -> [String] {
        guard let facts = try store.facts(of: batch) else { return ["it is not in Redis"] }
        let stateCodes = try store.stateCodes(of: batch, in: 0..<submission.photos + 1)
        var problems: [String] = []
        func require(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { problems.append(message()) } }

        let failed = failures.values.reduce(0, +)
        require(facts.state == .finished, "it is \(facts.state)")
        require(
            facts.photos == submission.photos && stateCodes.count == submission.photos, "it has \(facts.photos) photos")
        require(facts.counts.filtered == submission.photos - failed, "\(facts.counts.filtered) are counted as filtered")
        require(facts.counts.failed == failed && facts.failures == failures, "the failures are \(facts.failures)")
        require(facts.counts.cancelled == 0, "\(facts.counts.cancelled) are counted as cancelled")
        require(facts.counts.downloaded == 0, "\(facts.counts.downloaded) are counted as downloaded")
        let filtered = stateCodes.count { $0 == UInt8(ascii: "F") }
        require(filtered == facts.counts.filtered, "\(filtered) state codes are filtered, not \(facts.counts.filtered)")
        require(facts.operationsEnded == facts.operations, "\(facts.operationsEnded) of \(facts.operations) have ended")

        require(lines.count == submission.photos, "the manifest has \(lines.count) lines")
        for (index, stateCode) in stateCodes.enumerated() {
            let word = PhotoState(stateCode: stateCode)?.word
            require(
                lines[index]?.state == word,
                "photo \(index) is \(word ?? "?"), its line says \(lines[index]?.state ?? "")")
        }
        if countsBytes {
            let bytesOut = lines.values.flatMap(\.files).reduce(0) { $0 + ($1.bytes ?? 0) }
            require(
                facts.bytesOut == bytesOut, "\(facts.bytesOut) bytes are counted as written, the lines say \(bytesOut)")
            if failed == 0 {
                let bytesIn = (0..<submission.photos).reduce(0) { $0 + photos.source($1).byteCount }
                require(
                    facts.bytesIn == bytesIn, "\(facts.bytesIn) bytes are counted as read, the photos have \(bytesIn)")
            }
        }

        for key in [store.keys.executing(batch), store.keys.queue(batch), store.keys.leaseExpiries(batch)] {
            require(try store.connection.call(RedisCommand("EXISTS", key)).int == 0, "the key \(key) exists")
        }
        let leases = try store.connection.call(RedisCommand("ZRANGE", store.keys.leases, "0", "-1")).array ?? []
        let own = leases.compactMap(\.string).filter { $0.hasPrefix("\(batch)/") }
        require(own.isEmpty, "there are leases: \(own)")
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
            let expected = submission.renditions.isEmpty ? [""] : submission.renditions.map(\.name)
            if line.files.map(\.rendition) != expected { problems.append("photo \(index) has the files \(line.files)") }
            for file in line.files {
                guard let path = file.file, found.remove(path) != nil,
                    let bytes = FileManager.default.contents(atPath: submission.output + "/" + path)
                else {
                    problems.append("photo \(index) has no file \(file.file ?? "")")
                    continue
                }
                let source = photos.source(index)
                if bytes != source.developed[file.rendition] {
                    problems.append("\(path) has \(bytes.count) bytes that \(source.file) does not make")
                }
                let digest = Hexadecimal.text(SHA256Digest.hash(of: Array(bytes)))
                if file.bytes != bytes.count || file.sha256 != digest {
                    problems.append(
                        "\(path) differs from its line: \(file.bytes ?? -1) bytes, SHA-256 \(file.sha256 ?? "")")
                }
            }
        }
        for name in found.sorted() { problems.append("\(name) has no line in the manifest") }
        return problems
    }
}
