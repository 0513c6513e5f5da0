import DarkroomConcurrency
import DarkroomTransfer

/// A source of the bytes of photos.
protocol PhotoSource: Sendable {
    /// Starts fetching the bytes of the photo for `download`. The source calls ``ImageDownloader/end(_:)`` exactly
    /// once, on any thread, possibly before this call returns.
    func fetch(for download: ImageDownloader)
}

/// A running fetch of a photo's bytes.
protocol PhotoFetch: Sendable {
    /// Ends the fetch if the photo is cancelled. If the photo is withdrawn, ends the fetch only if it is waiting.
    func stop(_ level: CancellationToken.Level)
    /// Changes the position of the fetch among the waiting fetches, unless the fetch has started.
    func reorder(_ order: TransferOrder)
}

extension Transfer: PhotoFetch {
    func stop(_ level: CancellationToken.Level) {
        switch level {
        case .none: break
        case .withdrawn: withdraw()
        case .cancelled: cancel()
        }
    }
}
