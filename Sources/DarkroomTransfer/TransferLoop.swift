internal import CCurl
import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Foundation

// DESIGN
//
// One thread owns all state of the loop: the multi handle, the easy handles, the slots of hosts and the pauses before
// further attempts. Other threads only send messages. Each iteration of the loop handles messages and expired
// pauses, runs libcurl, and handles the attempts that have finished. Then the loop sleeps until a socket is ready, a
// message arrives or a pause ends. The loop itself applies the limits per host and in total, because libcurl's limit
// (CURLMOPT_MAX_HOST_CONNECTIONS) would count the wait for a slot as part of the timeouts.

final class TransferLoop {
    private let configuration: TransferConfiguration
    private let settings: EasySettings
    private let multi: UnsafeMutableRawPointer
    private let mailbox: Mailbox<EngineMessage>
    private let files: FileReader

    private var slots: HostQueues<Transfer>
    private var unfinished: [ObjectIdentifier: Transfer] = [:]
    private var running: [UnsafeMutableRawPointer: EasyHandle] = [:]
    private var spare: [EasyHandle] = []
    private var pausing: [Transfer] = []
    private var nextSweep = ContinuousClock.now
    private var generator = SystemRandomNumberGenerator()
    private var isShutDown = false
    private var isBeginningWaiting = false

    init(
        _ configuration: TransferConfiguration, allows: @escaping @Sendable (IPAddress) -> Bool,
        multi: UnsafeMutableRawPointer, mailbox: Mailbox<EngineMessage>
    ) {
        self.configuration = configuration
        self.multi = multi
        self.mailbox = mailbox
        settings = EasySettings(configuration, allows: allows)
        files = FileReader(ReadableFolders(folders: configuration.fileFolders, maxBytes: configuration.maxBytes))
        slots = HostQueues(limit: configuration.perHost, maxRunning: configuration.maxRunning)
    }

    func run() {
        blockBrokenPipeSignal()
        while true {
            for message in mailbox.take() { handle(message) }
            if isShutDown { break }
            resumePaused(.now)
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            finishAttempts()
            sweep(.now)  // after libcurl, which may have received data in the meantime
            if mailbox.prepareToSleep() { curl_multi_poll(multi, nil, 0, millisecondsToSleep(), nil) }
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
            case .running, .reading, .finished: return
            }
        case .reorder(let transfer, let order): reorder(transfer, order)
        case .limit(let count):
            slots.maxRunning = max(1, count)
            beginWaiting()
        case .fileRead(let transfer, let attempt, let result):
            guard case .reading(let since) = transfer.phase, transfer.attempts == attempt else { return }
            releaseSlot(of: transfer)
            finishRead(transfer, since: since, result)
        case .shutdown: isShutDown = true
        }
    }

    private func end() {
        for message in mailbox.close() {
            if case .start(let transfer) = message { unfinished[ObjectIdentifier(transfer)] = transfer }
        }
        for transfer in Array(unfinished.values) { cancel(transfer, "the transfer engine was shut down") }
        files.close()
        spare = []
        curl_multi_cleanup(multi)
    }

    // MARK: Transfers

    private func start(_ transfer: Transfer) {
        do throws(TransferError) {
            transfer.target = try TransferURL(parsing: transfer.url)
            if case .web(_, let host) = transfer.target { try settings.hosts.check(host) }
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
            files.read(path, unless: transfer.unwanted) { [mailbox, attempt = transfer.attempts] result in
                mailbox.post(.fileRead(transfer, attempt: attempt, result))
            }
        case nil: preconditionFailure("a transfer begins after its URL was read")
        }
    }

    private func run(_ transfer: Transfer, _ url: String, _ host: String) {
        guard let handle = spare.popLast() ?? EasyHandle(settings) else {
            return fail(transfer, .outOfMemory, "no memory for a libcurl handle")
        }
        handle.prepare(transfer, url: url, host: host)
        let status = curl_multi_add_handle(multi, handle.curl)
        guard status == CURLM_OK else {
            return fail(
                transfer, .outOfMemory, "libcurl rejected the transfer: \(String(cString: curl_multi_strerror(status)))"
            )
        }
        transfer.phase = .running(handle)
        running[handle.curl] = handle
    }

    /// Ends a transfer that has a slot and no attempt in libcurl.
    private func fail(_ transfer: Transfer, _ code: TransferError.Code, _ detail: String) {
        finish(transfer, .failure(TransferError(code: code, detail: detail)))
        releaseSlot(of: transfer)
    }

    private func finishAttempts() {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = running[message.pointee.easy_handle] else {
                continue
            }
            end(handle, with: message.pointee.data.result)
        }
    }

    /// Ends the attempt of `handle`. If no further attempt follows, also ends the transfer.
    private func end(_ handle: EasyHandle, with code: CURLcode) {
        guard let transfer = handle.transfer else { return }
        if handle.followsRedirect(after: code) {
            curl_multi_remove_handle(multi, handle.curl)
            if curl_multi_add_handle(multi, handle.curl) == CURLM_OK { return }
        }
        let outcome = handle.outcome(code)
        let retryAfter = handle.retryAfter
        let hasReceived = handle.hasReceived
        giveUp(handle)
        releaseSlot(of: transfer)
        finish(transfer, outcome, retryAfter: retryAfter, hasReceived: hasReceived)
    }

    /// Removes `handle` from libcurl. If the attempt has not finished, libcurl closes its connection.
    private func giveUp(_ handle: EasyHandle) {
        curl_multi_remove_handle(multi, handle.curl)
        running[handle.curl] = nil
        handle.clear()
        spare.append(handle)
    }

    private func releaseSlot(of transfer: Transfer) {
        slots.release(transfer.host, priority: transfer.order.priority)
        beginWaiting()
    }

    private func finishRead(
        _ transfer: Transfer, since: ContinuousClock.Instant,
        _ result: Result<(bytes: [UInt8], time: FileTime?), TransferError>
    ) {
        finish(
            transfer,
            result.map { bytes, time in
                if let onChunk = transfer.onChunk { bytes.withUnsafeBytes(onChunk) }
                return Download(
                    body: transfer.onChunk == nil ? bytes : [], attempts: transfer.attempts,
                    duration: .now - since, way: [], time: time)
            })
    }

    private func finish(
        _ transfer: Transfer, _ outcome: Result<Download, TransferError>, retryAfter: Duration? = nil,
        hasReceived: Bool = false
    ) {
        switch outcome {
        case .success(let download):
            unfinished[ObjectIdentifier(transfer)] = nil
            transfer.finish(.success(download))
        case .failure(let refusal):
            let isWorthIt = RetryPolicy.isPassing(refusal.code, hasReceived: hasReceived)
            if isWorthIt, transfer.attempts <= configuration.retries, !transfer.hasStreamed {
                let pause = RetryPolicy.pause(after: transfer.attempts, retryAfter: retryAfter, using: &generator)
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
        let holdsSlot: Bool
        switch transfer.phase {
        case .finished: return
        case .running(let handle):
            giveUp(handle)
            holdsSlot = true
        case .reading: holdsSlot = true
        case .waiting:
            slots.remove(transfer.host) { $0 === transfer }
            holdsSlot = false
        case .pausing: holdsSlot = false
        }
        unfinished[ObjectIdentifier(transfer)] = nil
        transfer.fail(.cancelled, detail)
        if holdsSlot { releaseSlot(of: transfer) }
    }

    private func reorder(_ transfer: Transfer, _ order: TransferOrder) {
        let old = transfer.order
        transfer.order = order
        switch transfer.phase {
        case .waiting:
            slots.reorder(transfer.host, to: order) { $0 === transfer }
            beginWaiting()
        case .running, .reading: slots.move(from: old.priority, to: order.priority)
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

    /// Ends stalled attempts and hanging reads. libcurl applies the other timeouts.
    private func sweep(_ now: ContinuousClock.Instant) {
        guard now >= nextSweep else { return }
        nextSweep = now + sweepInterval
        for transfer in Array(unfinished.values) {
            switch transfer.phase {
            case .running(let handle) where handle.hasStalled(now): end(handle, with: CURLE_ABORTED_BY_CALLBACK)
            case .reading(let since):
                guard let timeout = configuration.timeout, now - since >= timeout else { continue }
                releaseSlot(of: transfer)
                finish(
                    transfer,
                    .failure(TransferError(code: .timeout, detail: "reading the file took longer than \(timeout)")))
            default: continue
            }
        }
    }

    private var sweepInterval: Duration {
        max(.milliseconds(10), min(.seconds(1), configuration.stallTimeout / 8, configuration.minRateSpan / 8))
    }

    private func millisecondsToSleep() -> Int32 {
        guard !unfinished.isEmpty else { return 60_000 }
        var next = nextSweep
        for transfer in pausing {
            if case .pausing(let until) = transfer.phase { next = min(next, until) }
        }
        let remaining = ContinuousClock.now.duration(to: next)
        return Int32(max(0, min(remaining.wholeMilliseconds + 1, 60_000)))
    }
}

/// Blocks SIGPIPE on this thread. TLS libraries may write to a closed connection, and the signal would end the process.
package func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
