/// Transfers that must wait before they may keep more of their bodies in memory.
extension TransferLoop {
    /// Handles the message of a network thread that `attempt` waits until `bytes` of its body may be kept.
    func hold(_ attempt: Attempt, _ bytes: Int, hasBody: Bool) {
        let transfer = attempt.transfer
        // It may have been aborted in the meantime.
        guard case .running(let running, let since) = transfer.phase, running === attempt else { return }
        transfer.phase = .held(attempt, bytes: bytes, since: since)
        transfer.hasBody = hasBody
        addHeld(transfer)
        resumeHeld()
    }

    /// Keeps the place of a transfer whose attempt was ended, until there is room for its body. Until then, its host
    /// gets no further request for which there is no room, either.
    /// - Parameter sign: what the attempt told about its host.
    func cutOff(_ transfer: Transfer, _ bytes: Int, _ sign: HostSign, since: ContinuousClock.Instant) {
        transfer.phase = .cutOff(bytes: bytes, sign: sign, since: since)
        transfer.allowance = 0
        addHeld(transfer)
    }

    /// Adds a held transfer behind the others.
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

    /// Asks for the held bodies: first for all that have begun, because one of them may always continue, then for the
    /// others in the order of their priorities until one may not begin.
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
                // It waits for its turn again, before the transfers of its priority that have not begun.
                enter(transfer)
            }
            leave(transfer, sign, since: since)
        default: return false
        }
        return true
    }
}
