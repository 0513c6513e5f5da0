import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import Foundation

/// A process of `darkroom submit` that feeds a batch of a cluster. It ends at the latest with the test process.
final class FeedingProgram: Sendable {
    /// The batch id, which the program prints first.
    let batch: BatchID
    private let process: BoundProcess
    private let log: String

    fileprivate init(_ arguments: [String], log: String) throws {
        process = try BoundProcess([TortureWorker.program] + arguments, log: log)
        self.log = log
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let text = Self.text(of: log)
            if let id = text.firstMatch(of: /(?m)^(\d{8}-\d{9}-[0-9a-f]{4})$/)?.1, let found = BatchID(String(id)) {
                batch = found
                return
            }
            guard .now < deadline, !process.wait(within: .zero) else {
                throw TortureFailure("darkroom submit has not printed a batch id: \(text)")
            }
            // Polls the file, since its changes are not signalled.
            usleep(5000)
        }
    }

    /// The output, without the lines of the batch id, of what is done to the photos, and of the progress.
    var said: [String] {
        Self.text(of: log).split(separator: "\n").map(String.init).filter {
            $0 != batch.description && !$0.hasSuffix("/s") && !$0.hasPrefix("photos: ")
        }
    }

    /// Waits until the program has printed `text`.
    func wait(for text: String, within timeout: Duration) throws {
        let deadline = ContinuousClock.now + timeout
        while !Self.text(of: log).contains(text) {
            guard .now < deadline, !process.wait(within: .zero) else {
                throw TortureFailure("darkroom submit has not printed \"\(text)\": \(Self.text(of: log))")
            }
            usleep(5000)
        }
    }

    /// Whether the program has ended.
    var hasEnded: Bool { process.wait(within: .zero) }

    /// Waits until the program has fed the list and ended with status 0.
    func waitForEnd(within timeout: Duration) throws {
        guard process.wait(within: timeout) else {
            throw TortureFailure("darkroom submit has not ended within \(timeout): \(Self.text(of: log))")
        }
        guard process.exitStatus == 0 else {
            throw TortureFailure("darkroom submit ended with \(process.exitStatus ?? -1): \(Self.text(of: log))")
        }
    }

    private static func text(of log: String) -> String {
        FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension TortureCluster {
    /// Starts `darkroom submit`, and waits until the program has printed the batch id.
    /// - Parameters:
    ///   - window: The maximum number of unfinished operations. With a small window, feeding takes most of the run.
    ///   - name: The name of each photo. Long names fill Redis.
    func feed(
        photos count: Int, operationSize: Int, window: Int, redisURL: String, name: (Int) -> String = { _ in "photo" }
    ) throws -> FeedingProgram {
        let submission = try prepare(photos: count, operationSize: operationSize)
        let list = "\(folder)/list-\(submission.number).tsv"
        var text = "name\turl\n"
        for index in 0..<count { text += "\(name(index))\t\(photos.url(batch: submission.number, index))\n" }
        try text.write(toFile: list, atomically: true, encoding: .utf8)
        let arguments = [
            "submit", list, "-o", submission.output, "--redis", redisURL, "--namespace", namespace,
            "--operation-size", "\(operationSize)", "--window", "\(window)",
            "--lease", "\(lease.components.seconds)s",
        ]
        let program = try FeedingProgram(arguments, log: "\(folder)/submit-\(submission.number).log")
        note(submission, as: program.batch)
        return program
    }
}
