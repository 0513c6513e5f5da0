import DarkroomConcurrency

extension Worker {
    /// Waits until the worker has stopped, as ``wait()`` does, on a thread of its own instead of the task's.
    public func stopped() async {
        await withCheckedContinuation { continuation in
            _ = OwnedThread("darkroom-worker-stopped") { [self] in
                wait()
                continuation.resume()
            }
        }
    }
}
