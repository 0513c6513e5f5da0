/// Transfers that must wait before they may keep more of their bodies in memory.
extension TransferLoop {
    func hold(_ attempt: Attempt, _ bytes: Int, hasBody: Bool) {
        let transfer = attempt.transfer
        // It may have been aborted in the meantime.
        guard case .running(let running, let since) = transfer.phase, running === attempt else { return }
        transfer.phase = .held(attempt, bytes: bytes, since: since)
        transfer.hasBody = hasBody
        if !held.contains(where: { $0 === transfer }) { held.append(transfer) }
        resumeHeld()
    }

    /// Keeps the place of a transfer whose attempt was ended, until there is room for its body. So its host gets no further
    /// request for which there is no room, either.
    func cutOff(_ transfer: Transfer, _ bytes: Int, since: ContinuousClock.Instant) {
        transfer.phase = .cutOff(bytes: bytes, since: since)
        if !held.contains(where: { $0 === transfer }) { held.append(transfer) }
        resumeHeld()
    }

    /// Asks for the held bodies: first for all that have begun, because one of them always may go on, then for the others in
    /// the order of their priorities until one may not begin.
    func resumeHeld() {
        held.removeAll { transfer in
            switch transfer.phase {
            case .held, .cutOff: false
            default: true
            }
        }
        for transfer in held where transfer.hasBody { _ = resume(transfer) }
        // Stable: of one priority, the oldest is first.
        let others = held.filter { !$0.hasBody }.enumerated().sorted {
            ($1.element.order.priority, $0.offset) < ($0.element.order.priority, $1.offset)
        }
        for (_, transfer) in others { guard resume(transfer) else { break } }
    }

    private func resume(_ transfer: Transfer) -> Bool {
        switch transfer.phase {
        case .held(let attempt, let bytes, let since):
            guard transfer.steps.mayCarry?(bytes) ?? true else { return false }
            transfer.phase = .running(attempt, since: since)
            networkThread(of: attempt.host).proceed(attempt, mayKeep: bytes)
        case .cutOff(let bytes, let since):
            guard transfer.steps.mayCarry?(bytes) ?? true else { return false }
            transfer.allowance = bytes
            // It comes before the other transfers of the host, but waits until the host may get a request.
            enter(transfer)
            leave(transfer, .none, since: since)
        default: return false
        }
        transfer.hasBody = true
        return true
    }
}
