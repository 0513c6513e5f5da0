/// Held transfers, which must wait before they may keep more of their bodies in memory.
extension TransferLoop {
    /// Handles a message of a network thread: `attempt` waits until `bytes` of its body may be kept.
    func hold(_ attempt: Attempt, _ bytes: Int, hasBody: Bool) {
        let transfer = attempt.transfer
        // The transfer may have been cancelled before this message arrived.
        guard case .running(let running, let since) = transfer.phase, running === attempt else { return }
        transfer.phase = .held(attempt, bytes: bytes, since: since)
        transfer.hasBody = hasBody
        addHeld(transfer)
        resumeHeld()
    }

    /// Holds a transfer whose attempt was ended, until there is memory for its body. Until then, the transfer keeps its
    /// place at the host. Otherwise, another request could take the place, and its body would find no memory either.
    /// - Parameter sign: the information that the attempt gave about its host.
    func cutOff(_ transfer: Transfer, _ bytes: Int, _ sign: HostSign, since: ContinuousClock.Instant) {
        transfer.phase = .cutOff(bytes: bytes, sign: sign, since: since)
        transfer.allowance = 0
        addHeld(transfer)
    }

    /// Adds a held transfer after the other held transfers of its kind.
    func addHeld(_ transfer: Transfer) {
        if transfer.hasBody {
            begun.append(transfer)
        } else {
            arrived[transfer.order.priority, default: []].append(transfer)
        }
    }

    /// Returns false if the transfer is not held.
    @discardableResult
    func removeHeld(_ transfer: Transfer) -> Bool {
        switch transfer.phase {
        case .held, .cutOff: break
        default: return false
        }
        begun.removeAll { $0 === transfer }
        arrived[transfer.order.priority]?.removeAll { $0 === transfer }
        return true
    }

    /// Asks for memory for the held transfers. First come all transfers that have a part of their bodies, because one
    /// of them may always continue. The others follow in the order of their priorities, until one must wait further.
    func resumeHeld() {
        for transfer in begun { _ = resume(transfer) }
        for priority in arrived.keys.sorted(by: >) {
            while let transfer = arrived[priority]?.first { guard resume(transfer) else { return } }
            arrived[priority] = nil
        }
    }

    /// Asks whether a held transfer may keep its body now. If so, the transfer continues, and is no longer held.
    /// - Returns: whether the transfer continues.
    private func resume(_ transfer: Transfer) -> Bool {
        switch transfer.phase {
        case .held(let attempt, let bytes, let since):
            guard transfer.steps.mayCarry?(bytes) ?? true else { return false }
            removeHeld(transfer)
            transfer.hasBody = true
            transfer.phase = .running(attempt, since: since)
            networkThread(of: attempt.host).proceed(attempt, mayKeep: bytes)
        case .cutOff(let bytes, let sign, let since):
            guard transfer.steps.mayCarry?(bytes) ?? true else { return false }
            removeHeld(transfer)
            transfer.hasBody = false
            transfer.allowance = bytes
            if let timeout = configuration.timeout, transfer.request.map({ $0.spent >= timeout }) ?? false {
                fail(transfer, .timeout, "the download took longer than \(timeout)")
            } else {
                // The transfer waits for its turn again, before the transfers of its priority that have not begun.
                enter(transfer)
            }
            leave(transfer, sign, since: since)
        default: return false
        }
        return true
    }
}
