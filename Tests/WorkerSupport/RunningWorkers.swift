import Darkroom
import DarkroomConcurrency
import DarkroomWorker
import Testing

extension PhotoWorkerConfiguration {
    /// The configuration of a worker whose photos come from servers on this machine. A photo that cannot be fetched fails
    /// at once.
    package static func local(
        _ change: (inout PhotoWorkerConfiguration) -> Void = { _ in }
    ) -> PhotoWorkerConfiguration {
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.allowsPrivateAddresses = true
        configuration.downloadRules.retries = 0
        configuration.downloadRules.patience = .zero
        change(&configuration)
        return configuration
    }
}

extension [Worker] {
    /// Starts the workers, runs `body`, and stops the workers, also if `body` throws. They have ended when this returns.
    package func run<Value>(_ body: ([Worker]) throws -> Value) throws -> Value {
        defer { end() }
        for worker in self { try worker.start() }
        return try body(self)
    }

    /// Starts the workers, runs `body`, and stops the workers, also if `body` throws. They have ended when this returns.
    package func run<Value>(_ body: ([Worker]) async throws -> Value) async throws -> Value {
        defer { end() }
        for worker in self { try worker.start() }
        return try await body(self)
    }

    /// Stops the workers, and waits until they have ended. The test fails if one of them does not end within a minute.
    package func end() {
        for worker in self { worker.stop() }
        for worker in self where !OwnedThread("end", { worker.wait() }).join(timeout: .seconds(60)) {
            Issue.record("the worker \(worker.id) has not ended within 60 s")
        }
    }
}

extension PhotoWorker {
    /// Starts the worker, runs `body`, and stops the worker, also if `body` throws. It has ended when this returns.
    package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await start()
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        await stop()
        return try outcome.get()
    }
}
