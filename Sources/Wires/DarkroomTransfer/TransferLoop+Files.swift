import DarkroomFiles

/// Transfers of `file:` URLs.
extension TransferLoop {
    func finishRead(
        _ transfer: Transfer, since: ContinuousClock.Instant,
        _ result: Result<(bytes: [UInt8], time: FileTime?), TransferError>
    ) {
        unfinished[ObjectIdentifier(transfer)] = nil
        switch result {
        case .success((let bytes, let time)):
            if let onChunk = transfer.onChunk { bytes.withUnsafeBytes(onChunk) }
            transfer.finish(
                .success(
                    Download(
                        body: transfer.onChunk == nil ? bytes : [], attempts: transfer.history.attempts,
                        duration: .now - since,
                        way: [], time: time)))
        case .failure(let error): transfer.fail(error.code, error.detail)
        }
    }

    /// Ends hanging reads.
    func sweepReads(_ now: ContinuousClock.Instant) {
        guard now >= nextSweep else { return }
        nextSweep = now + configuration.sweepInterval
        guard let timeout = configuration.timeout else { return }
        for transfer in Array(reading.values) {
            guard case .reading(let since) = transfer.phase, now - since >= timeout else { continue }
            let error = TransferError(code: .timeout, detail: "reading the file took longer than \(timeout)")
            leave(transfer, .none, since: since)
            finishRead(transfer, since: since, .failure(error))
        }
    }
}
