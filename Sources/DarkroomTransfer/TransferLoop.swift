import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Foundation

// DESIGN
//
// One thread owns all state of the loop: the transfers, the slots of hosts and the pauses before further attempts. Other
// threads only send messages. The attempts themselves run on a few network threads, so that TLS handshakes use several
// processors and never delay this thread. An attempt keeps its slot until its network thread says that it has ended: also
// while transfers are cancelled, no host gets more connections than allowed. The loop itself applies the limits per host
// and in total, because libcurl's limit (CURLMOPT_MAX_HOST_CONNECTIONS) would count the wait for a slot as part of the
// timeouts.

final class TransferLoop {
    /// More threads are of no use: one receives more photos than eight processors can decode.
    private static let maxNetworkThreads = 4

    private let configuration: TransferConfiguration
    private let hosts: HostRules
    private let mailbox: Mailbox<EngineMessage>
    private let wakeup: Wakeup
    private let files: FileReader
    private let networkThreads: [NetworkThread]

    private var slots: HostQueues<Transfer>
    private var unfinished: [ObjectIdentifier: Transfer] = [:]
    /// The transfers whose files are being read.
    private var reading: [ObjectIdentifier: Transfer] = [:]
    private var pausing: [Transfer] = []
    private var nextSweep = ContinuousClock.now
    private var generator = SystemRandomNumberGenerator()
    private var isShutDown = false
    private var isBeginningWaiting = false

    init(
        _ configuration: TransferConfiguration, allows: @escaping @Sendable (IPAddress) -> Bool,
        mailbox: Mailbox<EngineMessage>, wakeup: Wakeup
    ) {
        self.configuration = configuration
        hosts = HostRules(allowed: configuration.allowedHosts, denied: configuration.deniedHosts)
        self.mailbox = mailbox
        self.wakeup = wakeup
        files = FileReader(ReadableFolders(folders: configuration.fileFolders, maxBytes: configuration.maxBytes))
        let processors = ProcessInfo.processInfo.activeProcessorCount
        networkThreads = (0..<max(1, min(processors, Self.maxNetworkThreads))).map { _ in
            NetworkThread(configuration, allows: allows) { mailbox.post(.ended($0, $1)) }
        }
        slots = HostQueues(limit: configuration.perHost, maxRunning: configuration.maxRunning)
    }

    func run() {
        while true {
            for message in mailbox.take() { handle(message) }
            if isShutDown { break }
            resumePaused(.now)
            sweepReads(.now)
            if mailbox.prepareToSleep() { wakeup.wait(until: nextWake) }
        }
        end()
    }

    private func handle(_ message: EngineMessage) {
        switch message {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): cancel(transfer, "cancelled")
        case .withdraw(let transfer):
            switch transfer.phase {
            case .waiting, .pausing: cancel(transfer, "withdrawn before it began")
            case .running, .aborting, .reading, .finished: return
            }
        case .reorder(let transfer, let order): reorder(transfer, order)
        case .limit(let count):
            slots.maxRunning = max(1, count)
            beginWaiting()
        case .ended(let attempt, let outcome): end(attempt, outcome)
        case .fileRead(let transfer, let attempt, let result):
            guard case .reading(let since) = transfer.phase, transfer.attempts == attempt else { return }
            releaseSlot(of: transfer)
            finishRead(transfer, since: since, result)
        case .shutdown: isShutDown = true
        }
    }

    private func end() {
        for thread in networkThreads { thread.shutdown() }
        for thread in networkThreads { thread.join() }
        for message in mailbox.close() {
            if case .start(let transfer) = message { unfinished[ObjectIdentifier(transfer)] = transfer }
        }
        for transfer in unfinished.values { transfer.fail(.cancelled, "the transfer engine was shut down") }
        unfinished = [:]
        files.close()
    }

    // MARK: Transfers

    private func start(_ transfer: Transfer) {
        do throws(TransferError) {
            transfer.target = try TransferURL(parsing: transfer.url)
            if case .web(_, let host) = transfer.target { try hosts.check(host) }
        } catch {
            transfer.fail(error.code, error.detail)
            return
        }
        unfinished[ObjectIdentifier(transfer)] = transfer
        begin(transfer)
    }

    private func begin(_ transfer: Transfer) {
        transfer.phase = .waiting
        // The limit for files is the number of threads that read files.
        let limit = transfer.host.isEmpty ? FileReader.maxThreads : nil
        if slots.admit(transfer, host: transfer.host, order: transfer.order, hostLimit: limit) {
            attempt(transfer)
        } else {
            transfer.waits?()
        }
    }

    /// Starts the attempts of waiting transfers that get a slot.
    private func beginWaiting() {
        // If a transfer cannot start, it releases its slot and calls this method again. This inner call returns at
        // once, because the loop of the outer call fills the slot.
        guard !isBeginningWaiting else { return }
        isBeginningWaiting = true
        while !isShutDown, let next = slots.next() { attempt(next) }
        isBeginningWaiting = false
    }

    /// Starts an attempt of a transfer that has a slot.
    private func attempt(_ transfer: Transfer) {
        guard transfer.mayBegin?() ?? true else { return fail(transfer, .cancelled, "withdrawn before it began") }
        transfer.attempts += 1
        switch transfer.target {
        case .web(let url, let host): run(transfer, url, host)
        case .file(let path):
            transfer.phase = .reading(since: .now)
            reading[ObjectIdentifier(transfer)] = transfer
            files.read(path, unless: transfer.unwanted) { [mailbox, attempt = transfer.attempts] result in
                mailbox.post(.fileRead(transfer, attempt: attempt, result))
            }
        case nil: preconditionFailure("a transfer begins after its URL was read")
        }
    }

    private func run(_ transfer: Transfer, _ url: String, _ host: String) {
        let attempt = Attempt(transfer, number: transfer.attempts, url: url, host: host)
        transfer.phase = .running(attempt)
        networkThread(of: host).begin(attempt)
    }

    /// The thread for all attempts of `host`, so that they share its connections.
    private func networkThread(of host: String) -> NetworkThread {
        networkThreads[Int(UInt(bitPattern: host.hashValue) % UInt(networkThreads.count))]
    }

    /// Ends a transfer that has a slot and no attempt.
    private func fail(_ transfer: Transfer, _ code: TransferError.Code, _ detail: String) {
        finish(transfer, .init(result: .failure(TransferError(code: code, detail: detail))))
        releaseSlot(of: transfer)
    }

    /// Handles the end of `attempt`. If no further attempt follows, also ends its transfer.
    private func end(_ attempt: Attempt, _ outcome: Attempt.Outcome) {
        let transfer = attempt.transfer
        switch transfer.phase {
        case .running:
            releaseSlot(of: transfer)
            finish(transfer, outcome)
        case .aborting:
            endCancelled(transfer, "cancelled")
            releaseSlot(of: transfer)
        case .waiting, .reading, .pausing, .finished:
            preconditionFailure("an attempt ends once, and before its transfer")
        }
    }

    private func releaseSlot(of transfer: Transfer) {
        reading[ObjectIdentifier(transfer)] = nil
        slots.release(transfer.host, priority: transfer.order.priority)
        beginWaiting()
    }

    private func finishRead(
        _ transfer: Transfer, since: ContinuousClock.Instant,
        _ result: Result<(bytes: [UInt8], time: FileTime?), TransferError>
    ) {
        let result = result.map { bytes, time in
            if let onChunk = transfer.onChunk { bytes.withUnsafeBytes(onChunk) }
            return Download(
                body: transfer.onChunk == nil ? bytes : [], attempts: transfer.attempts, duration: .now - since,
                way: [],
                time: time)
        }
        finish(transfer, .init(result: result))
    }

    private func finish(_ transfer: Transfer, _ outcome: Attempt.Outcome) {
        switch outcome.result {
        case .success(let download):
            unfinished[ObjectIdentifier(transfer)] = nil
            transfer.finish(.success(download))
        case .failure(let refusal):
            let isWorthIt = RetryPolicy.isPassing(refusal.code, hasReceived: outcome.hasReceived)
            if isWorthIt, transfer.attempts <= configuration.retries, !outcome.hasStreamed {
                let pause = RetryPolicy.pause(
                    after: transfer.attempts, retryAfter: outcome.retryAfter, using: &generator)
                transfer.phase = .pausing(until: .now + pause)
                pausing.append(transfer)
                transfer.waits?()
            } else {
                unfinished[ObjectIdentifier(transfer)] = nil
                transfer.fail(refusal.code, refusal.detail)
            }
        }
    }

    private func cancel(_ transfer: Transfer, _ detail: String) {
        switch transfer.phase {
        case .running(let attempt):
            transfer.phase = .aborting
            networkThread(of: attempt.host).abort(attempt)
        case .reading:
            endCancelled(transfer, detail)
            releaseSlot(of: transfer)
        case .waiting:
            slots.remove(transfer.host) { $0 === transfer }
            endCancelled(transfer, detail)
        case .pausing: endCancelled(transfer, detail)
        case .aborting, .finished: return
        }
    }

    private func endCancelled(_ transfer: Transfer, _ detail: String) {
        unfinished[ObjectIdentifier(transfer)] = nil
        transfer.fail(.cancelled, detail)
    }

    private func reorder(_ transfer: Transfer, _ order: TransferOrder) {
        let old = transfer.order
        transfer.order = order
        switch transfer.phase {
        case .waiting:
            slots.reorder(transfer.host, to: order) { $0 === transfer }
            beginWaiting()
        case .running, .aborting, .reading: slots.move(from: old.priority, to: order.priority)
        case .pausing, .finished: return
        }
    }

    // MARK: Timeouts

    private func resumePaused(_ now: ContinuousClock.Instant) {
        guard !pausing.isEmpty else { return }
        var due: [Transfer] = []
        pausing.removeAll { transfer in
            guard case .pausing(let until) = transfer.phase else { return true }  // cancelled in the meantime
            if until <= now { due.append(transfer) }
            return until <= now
        }
        for transfer in due { begin(transfer) }
    }

    /// Ends hanging reads.
    private func sweepReads(_ now: ContinuousClock.Instant) {
        guard now >= nextSweep else { return }
        nextSweep = now + configuration.sweepInterval
        guard let timeout = configuration.timeout else { return }
        for transfer in Array(reading.values) {
            guard case .reading(let since) = transfer.phase, now - since >= timeout else { continue }
            releaseSlot(of: transfer)
            let error = TransferError(code: .timeout, detail: "reading the file took longer than \(timeout)")
            finish(transfer, .init(result: .failure(error)))
        }
    }

    /// When the loop must run even if no message arrives; nil if never.
    private var nextWake: ContinuousClock.Instant? {
        let pauses = pausing.compactMap { transfer in
            if case .pausing(let until) = transfer.phase { until } else { nil }
        }
        let hasDeadlines = !reading.isEmpty && configuration.timeout != nil
        return (pauses + (hasDeadlines ? [nextSweep] : [])).min()
    }
}

/// Blocks SIGPIPE on this thread. TLS libraries may write to a closed connection, and the signal would end the process.
package func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
