import DarkroomConcurrency
import DarkroomFiles
import DarkroomHosts
import DarkroomText
import Foundation

// DESIGN
//
// One thread owns all state of the loop: the transfers, the conditions of their hosts, the name lookups, and the pauses
// before further attempts. Other threads only send messages. The attempts themselves run on a few network threads, so
// that TLS handshakes use several processors and never delay this thread. An attempt counts for its host until its
// network thread reports the end of the attempt. Therefore a host never gets more requests than allowed, even while
// transfers are cancelled.
//
// A transfer first gets the addresses of its host, then waits in the host book for its turn, and then begins an
// attempt. After a redirect, the transfer takes these steps again for the new host.

final class TransferLoop {
    /// The largest number of network threads. More threads are not useful: one thread receives more photos than eight
    /// processors can decode.
    private static let maxNetworkThreads = 4
    /// If the host was silent, a transfer waits this long before it is tried again; the host book may prolong the wait.
    private static let silencePause = Duration.seconds(1)
    /// The largest number of hosts in one exchange with other workers.
    private static let hostsAtOnce = 50

    let configuration: TransferConfiguration
    private let requests: Request.Settings
    private let retries: RetryPolicy
    private let mailbox: Mailbox<EngineMessage>
    private let wakeup: Wakeup
    private let files: FileReader
    private let exchange: (any HostExchange)?
    private let networkThreads: [NetworkThread]
    private let names: NameDesk
    private let board: HostBoard

    private var book: HostBook<Transfer>
    private var ledger = HostLedger()
    var unfinished: [ObjectIdentifier: Transfer] = [:]
    /// The transfers whose files are being read.
    var reading: [ObjectIdentifier: Transfer] = [:]
    /// The transfers that wait for their next attempt, including transfers that no longer wait.
    private var pausing = Timeline<Transfer>()
    /// The held transfers that have no part of their bodies, by priority, the longest-held first.
    var arrived: [Int: ArraySlice<Transfer>] = [:]
    /// The held transfers that have a part of their bodies, the longest-held first.
    var begun: [Transfer] = []
    var nextSweep = ContinuousClock.now
    private var generator = SystemRandomNumberGenerator()
    private var isShutDown = false
    private var isBeginningWaiting = false
    private var isExchanging = false

    init(
        _ configuration: TransferConfiguration, exchange: (any HostExchange)?,
        allows: @escaping @Sendable (IPAddress) -> Bool, mailbox: Mailbox<EngineMessage>, wakeup: Wakeup,
        board: HostBoard
    ) {
        self.configuration = configuration
        self.exchange = exchange
        requests = Request.Settings(configuration)
        retries = RetryPolicy(configuration)
        self.mailbox = mailbox
        self.wakeup = wakeup
        self.board = board
        files = FileReader(ReadableFolders(folders: configuration.fileFolders, maxBytes: configuration.maxBytes))
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let count = max(1, min(processors, Self.maxNetworkThreads))
        networkThreads = (0..<count).map { _ in
            NetworkThread(
                configuration, NetworkShares(threads: count), maxConnections: max(8, configuration.maxRequests / count),
                allows: allows
            ) {
                mailbox.post(.ended($0, $1))
            } held: {
                mailbox.post(.held($0, bytes: $1, hasBody: $2))
            }
        }
        names = NameDesk(servers: configuration.nameServers, patience: configuration.patience)
        let hosts = HostCondition.Rules(
            patience: configuration.patience, perHost: configuration.perHost,
            interval: configuration.rate.map { .seconds(1 / $0) })
        book = HostBook(
            places: configuration.maxRequests, interval: configuration.totalRate.map { .seconds(1 / $0) },
            isShared: exchange != nil
        ) { host in
            // Files have no host; their limit is the number of threads that read files.
            host.isEmpty ? HostCondition.Rules(perHost: FileReader.maxThreads) : hosts
        }
    }

    func run() {
        while true {
            for message in mailbox.take() { handle(message) }
            if isShutDown { break }
            for (transfer, answer) in names.run(.now) { enter(transfer, answer) }
            resumePaused(.now)
            sweepReads(.now)
            beginWaiting()
            shareHosts(.now)
            if mailbox.prepareToSleep() {
                wakeup.wait(for: names.descriptor, events: Int16(POLLIN), until: nextWake)
            }
        }
        end()
    }

    private func handle(_ message: EngineMessage) {
        switch message {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): cancel(transfer, "cancelled")
        case .withdraw(let transfer):
            switch transfer.phase {
            case .naming, .waiting, .pausing: cancel(transfer, "withdrawn before it began")
            case .running, .aborting, .held, .cutOff, .reading, .finished: return
            }
        case .reorder(let transfer, let order): reorder(transfer, order)
        case .open(let lowest): book.lowestPriority = lowest
        case .resume: resumeHeld()
        case .held(let attempt, let bytes, let hasBody): hold(attempt, bytes, hasBody: hasBody)
        case .ended(let attempt, let outcome): end(attempt, outcome)
        case .fileRead(let transfer, let attempt, let result):
            guard case .reading(let since) = transfer.phase, transfer.history.attempts == attempt else { return }
            leave(transfer, .none, since: since)
            finishRead(transfer, since: since, result)
        case .shared(let hosts, let shares): apply(shares, to: hosts)
        case .deferred(let waiting, let group, let due): ledger.count(deferred: waiting, group: group, until: due, .now)
        case .reportHosts: board.publish(overview)
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
        // Without this message, other workers would wait for the permits of this worker.
        var uses = book.leaveAll(.now)[...]
        while !uses.isEmpty {
            exchange?.share(Array(uses.prefix(Self.hostsAtOnce))) { _ in }
            uses = uses.dropFirst(Self.hostsAtOnce)
        }
        files.close()
    }

    // MARK: Before an attempt

    private func start(_ transfer: Transfer) {
        do throws(TransferError) {
            transfer.target = try TransferURL(parsing: transfer.url)
            if case .web(_, let host) = transfer.target { try requests.hosts.check(host) }
        } catch {
            return transfer.fail(error.code, error.detail)
        }
        unfinished[ObjectIdentifier(transfer)] = transfer
        if let next = transfer.history.next, next > .now { return pause(transfer, until: next) }
        begin(transfer)
    }

    /// Begins a new attempt of a transfer, with its first request.
    func begin(_ transfer: Transfer) {
        if case .web(let url, let host) = transfer.target {
            transfer.request = Request(url: url, host: host, requests)
        }
        enter(transfer)
    }

    /// Takes the steps before the next request of a transfer: the name lookup, and the wait in the host book.
    func enter(_ transfer: Transfer) {
        guard let name = transfer.request?.name else { return enter(transfer, .success([])) }
        transfer.phase = .naming
        if let answer = names.ask(name, for: transfer, .now) {
            enter(transfer, answer)
        } else {
            transfer.steps.waits?(.name, transfer.history)
        }
    }

    private func enter(_ transfer: Transfer, _ answer: NameCache.Answer) {
        guard !transfer.isFinished else { return }
        switch answer {
        case .success(let addresses): transfer.addresses = addresses
        case .failure(let error):
            return fail(transfer, .nameNotFound, error.detail(transfer.request?.name ?? transfer.host))
        }
        if let verdict = book.verdict(on: transfer.host, .now) { return fail(transfer, verdict) }
        transfer.phase = .waiting
        var order = transfer.order
        // Transfers that have failed come before transfers that have not begun. If the host was silent, the failed
        // transfer comes last, because the host may answer for other photos.
        if transfer.history.attempts > 0, !transfer.wasSilent { order.isFirst = true }
        book.add(transfer, host: transfer.host, order: order, .now)
        beginWaiting()
        if case .waiting = transfer.phase { reportWait(transfer, until: book.standstill(of: transfer.host)) }
    }

    /// Begins the attempts of the waiting transfers that may begin now.
    private func beginWaiting() {
        // An attempt that ends at once calls this method again. This inner call returns at once, because the loop of
        // the outer call continues.
        guard !isBeginningWaiting else { return }
        isBeginningWaiting = true
        while !isShutDown, let next = book.next(.now) { attempt(next) }
        isBeginningWaiting = false
    }

    // MARK: Attempts

    /// Begins an attempt of a transfer that the host book has returned.
    func attempt(_ transfer: Transfer) {
        let now = ContinuousClock.now
        // If the addresses have expired while the transfer waited for its turn, the transfer uses the expired
        // addresses.
        if let name = transfer.request?.name, case .success(let found) = names.known(name, now) {
            transfer.addresses = found
        }
        guard transfer.steps.mayBegin?() ?? true else {
            fail(transfer, .cancelled, "withdrawn before it began")
            return leave(transfer, .none, since: now)
        }
        if transfer.allowance > 0 {
            // Other transfers may have used the memory while this transfer waited for its turn.
            guard transfer.steps.mayCarry?(transfer.allowance) ?? true else {
                return cutOff(transfer, transfer.allowance, .none, since: now)
            }
        } else if transfer.request?.way.isEmpty ?? true {
            transfer.history.attempts += 1
        }
        if let request = transfer.request {
            send(request, of: transfer, since: now)
        } else if case .file(let path) = transfer.target {
            transfer.phase = .reading(since: now)
            reading[ObjectIdentifier(transfer)] = transfer
            files.read(path, unless: transfer.unwanted) { [mailbox, attempt = transfer.history.attempts] result in
                mailbox.post(.fileRead(transfer, attempt: attempt, result))
            }
        }
    }

    private func send(_ request: Request, of transfer: Transfer, since: ContinuousClock.Instant) {
        let attempt = Attempt(
            transfer, number: transfer.history.attempts, request, addresses: transfer.addresses,
            sharesConnection: book.condition(of: transfer.host)?.isMultiplexed == true)
        transfer.allowance = 0
        transfer.phase = .running(attempt, since: since)
        networkThread(of: attempt.host).begin(attempt)
    }

    /// The thread for all attempts of `host`, so that these attempts share the connections to the host.
    func networkThread(of host: String) -> NetworkThread {
        networkThreads[Int(UInt(bitPattern: host.hashValue) % UInt(networkThreads.count))]
    }

    /// Handles the end of `attempt`: ends its transfer, or continues it by a redirect or a further attempt.
    private func end(_ attempt: Attempt, _ outcome: Attempt.Outcome) {
        let transfer = attempt.transfer
        let before = book.standstill(of: attempt.host)
        removeHeld(transfer)
        if let isMultiplexed = outcome.isMultiplexed { book.answered(attempt.host, isMultiplexed: isMultiplexed) }
        if case .downloaded = outcome.result { book.delivered(attempt.host) }
        switch transfer.phase {
        case .running(_, let since), .held(_, _, let since):
            if case .cutOff(let bytes, let hasBody) = outcome.result {
                transfer.hasBody = hasBody
                transfer.request?.spent = outcome.spent
                cutOff(transfer, bytes, outcome.countsForHost ? outcome.sign : .none, since: since)
                return resumeHeld()
            }
            leave(transfer, outcome.countsForHost ? outcome.sign : .none, since: since)
            switch outcome.result {
            case .cutOff: break  // see above
            case .downloaded(let download):
                ledger.count(transfer.host, group: transfer.order.group)
                unfinished[ObjectIdentifier(transfer)] = nil
                transfer.finish(.success(download))
            case .redirected(let location): follow(location, transfer, outcome)
            case .failed(let error): retry(transfer, error, outcome)
            }
        case .aborting(let since):
            fail(transfer, .cancelled, "cancelled")
            leave(transfer, .none, since: since)
        case .naming, .waiting, .cutOff, .reading, .pausing, .finished:
            preconditionFailure("an attempt ends once, and before its transfer")
        }
        noteStandstill(of: attempt.host, before: before)
    }

    /// Must be called when the state of a host may have changed. If the photos of the host must fail now, ends the
    /// transfers that wait for the host. If the standstill of the host has begun or ended or has a new end, reports the
    /// new waits of these transfers.
    private func noteStandstill(of host: String, before: ContinuousClock.Instant?) {
        if let verdict = book.verdict(on: host, .now) {
            for waiting in book.removeAll(of: host, .now) { fail(waiting, verdict) }
        } else {
            let end = book.standstill(of: host)
            // If several requests were under way, each of their refusals may move the end of the standstill a little.
            if let before, let end, end - before < .seconds(1), before - end < .seconds(1) { return }
            guard end != before else { return }
            for waiting in book.elements(of: host) { reportWait(waiting, until: end) }
        }
    }

    /// Reports that a transfer waits in the host book.
    /// - Parameter next: the end of the host's standstill (``HostBook/standstill(of:)``); nil if the host gets
    ///   requests.
    private func reportWait(_ transfer: Transfer, until next: ContinuousClock.Instant?) {
        transfer.steps.waits?(next.map { .host(until: $0) } ?? .turn, transfer.history)
    }

    /// Releases the place of a transfer at its host, so that another transfer may begin.
    func leave(_ transfer: Transfer, _ sign: HostSign, since start: ContinuousClock.Instant) {
        reading[ObjectIdentifier(transfer)] = nil
        book.ended(transfer.host, priority: transfer.order.priority, sign, begun: start, .now)
        beginWaiting()
    }

    private func follow(_ location: [UInt8], _ transfer: Transfer, _ outcome: Attempt.Outcome) {
        do throws(TransferError) {
            if let timeout = configuration.timeout, outcome.spent >= timeout {
                throw TransferError(code: .timeout, detail: "the redirects took longer than \(timeout)")
            }
            transfer.request = try transfer.request?.following(
                location, way: outcome.way, hasBeenPublic: outcome.hasBeenPublic, cookies: outcome.cookies,
                spent: outcome.spent, requests)
        } catch {
            return fail(transfer, error.code, error.detail)
        }
        enter(transfer)
    }

    /// Schedules the next attempt of a failed transfer. If no further attempt is allowed, ends the transfer.
    private func retry(_ transfer: Transfer, _ error: TransferError, _ outcome: Attempt.Outcome) {
        let now = ContinuousClock.now
        transfer.wasSilent = outcome.sign == .silent
        guard !outcome.hasStreamed, RetryPolicy.isPassing(error.code) else {
            return fail(transfer, error.code, error.detail)
        }
        switch outcome.sign {
        case .refused, .unavailable, .silent:
            let since = transfer.history.troubles?.since ?? now
            let count = (transfer.history.troubles?.count ?? 0) + 1
            transfer.history.troubles = RetryHistory.Failures(since: since, count: count)
            guard now - since < configuration.patience else { return fail(transfer, error.code, error.detail) }
            switch outcome.sign {
            case .refused: begin(transfer)  // the host book knows the end of the wait
            case .unavailable: pause(transfer, for: retries.pause(after: count, using: &generator))
            default: pause(transfer, for: Self.silencePause)
            }
        case .answered, .slow, .stalled, .none:
            transfer.history.troubles = nil
            let since = transfer.history.failures?.since ?? now
            let count = (transfer.history.failures?.count ?? 0) + 1
            transfer.history.failures = RetryHistory.Failures(since: since, count: count)
            guard outcome.sign != .slow, retries.allows(count, passed: now - since) else {
                return fail(transfer, error.code, error.detail)
            }
            pause(transfer, for: retries.pause(after: count, using: &generator))
        }
    }

    private func pause(_ transfer: Transfer, for pause: Duration) { self.pause(transfer, until: .now + pause) }

    private func pause(_ transfer: Transfer, until time: ContinuousClock.Instant) {
        transfer.phase = .pausing(until: time)
        pausing.add(transfer, at: time)
        transfer.history.next = time
        transfer.steps.waits?(.retry(until: time), transfer.history)
    }

    private func resumePaused(_ now: ContinuousClock.Instant) {
        while let (time, transfer) = pausing.popDue(now) {
            guard case .pausing(time) = transfer.phase else { continue }  // cancelled during the pause
            transfer.history.next = nil
            begin(transfer)
        }
    }

    func fail(_ transfer: Transfer, _ verdict: HostCondition.Verdict) {
        let host = transfer.host
        switch verdict {
        case .unreachable:
            fail(transfer, .hostUnreachable, "\(host) has not answered for \(configuration.patience)")
        case .refuses:
            fail(transfer, .hostRefuses, "\(host) has refused requests for \(configuration.patience) or for longer")
        case .tooSlow: fail(transfer, .hostTooSlow, "\(host) has sent several photos too slowly or not completely")
        }
    }

    func fail(_ transfer: Transfer, _ code: TransferError.Code, _ detail: String) {
        ledger.count(transfer.host, group: transfer.order.group, failure: code)
        unfinished[ObjectIdentifier(transfer)] = nil
        transfer.fail(code, detail)
    }

    // MARK: Other workers

    /// Begins an exchange of the hosts that are due, unless an exchange is under way.
    private func shareHosts(_ now: ContinuousClock.Instant) {
        guard let exchange, !isExchanging else { return }
        let uses = book.takeUses(Self.hostsAtOnce, now)
        guard !uses.isEmpty else { return }
        isExchanging = true
        let hosts = uses.map(\.host)
        exchange.share(uses) { [mailbox] shares in mailbox.post(.shared(hosts, shares)) }
    }

    private func apply(_ shares: [HostShare]?, to hosts: [String]) {
        isExchanging = false
        for (index, host) in hosts.enumerated() {
            let before = book.standstill(of: host)
            book.apply(shares?[index], to: host, .now)
            noteStandstill(of: host, before: before)
        }
    }

    // MARK: Control

    private func cancel(_ transfer: Transfer, _ detail: String) {
        switch transfer.phase {
        case .running(let attempt, let since), .held(let attempt, _, let since):
            removeHeld(transfer)
            transfer.phase = .aborting(since: since)
            networkThread(of: attempt.host).abort(attempt)
        case .reading(let since), .cutOff(_, _, let since):
            removeHeld(transfer)
            fail(transfer, .cancelled, detail)
            leave(transfer, .none, since: since)
        case .naming:
            if let name = transfer.request?.name { names.leave(name) }
            fail(transfer, .cancelled, detail)
        case .waiting:
            book.remove(transfer, .now)
            fail(transfer, .cancelled, detail)
        case .pausing: fail(transfer, .cancelled, detail)
        case .aborting, .finished: return
        }
    }

    private func reorder(_ transfer: Transfer, _ order: TransferOrder) {
        let old = transfer.order
        let isHeld = removeHeld(transfer)
        transfer.order = order
        if isHeld { addHeld(transfer) }
        switch transfer.phase {
        case .naming: if let name = transfer.request?.name { names.hurry(name, order, .now) }
        case .waiting:
            book.reorder(transfer, to: order, .now)
            beginWaiting()
        case .running, .aborting, .held, .cutOff, .reading: book.move(from: old.priority, to: order.priority)
        case .pausing, .finished: return
        }
    }

    // MARK: Hosts

    /// The overview for ``HostBoard``. Its cost depends on the number of unfinished transfers, but not on the number of
    /// remembered hosts.
    private var overview: HostOverview {
        var counts = ledger.counts(.now)
        for transfer in unfinished.values {
            // Files have no host.
            guard let host = transfer.request?.hop.host else { continue }
            let isWaiting =
                switch transfer.phase {
                case .naming, .waiting, .pausing: true
                case .running, .aborting, .held, .cutOff, .reading, .finished: false
                }
            counts[host, default: [:]][transfer.order.group, default: HostReport.Counts()].waiting += isWaiting ? 1 : 0
        }
        return HostOverview(
            counts.map { HostReport($0.key, book.condition(of: $0.key), $0.value) }, others: ledger.others)
    }

    // MARK: Waiting for messages

    /// The time at which the loop must run even if no message arrives; nil if never.
    private var nextWake: ContinuousClock.Instant? {
        let hasDeadlines = !reading.isEmpty && configuration.timeout != nil
        let times = [
            pausing.nextTime, book.nextTime, names.nextTime, hasDeadlines ? nextSweep : nil,
            isExchanging ? nil : book.nextExchange,
        ]
        return times.compactMap { $0 }.min()
    }
}

/// Blocks SIGPIPE on this thread. If a TLS library writes to a closed connection, the signal would end the process.
package func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
