import DarkroomConcurrency
import DarkroomFiles

/// Uses separate threads for calls that access places of batches, because a call may hang, for example if a file server
/// is unreachable.
///
/// If a call times out, the caller continues, and the thread stays in the call. Until the hanging call returns, no
/// further call is made to places of the same hang domain, see ``StoragePlace/hangDomain(_:)``.
package final class StorageCalls: Sendable {
    package final class Call: Sendable {
        fileprivate enum State { case runs, hangs(domain: String), done }
        fileprivate let state = Locked(State.runs)
        fileprivate let location = Locked<String?>(nil)
        fileprivate let ended = Signal()

        /// Sets the location that the call accesses from now on; "" means that it accesses no place.
        package func accesses(_ location: String) {
            self.location.withLock { $0 = location.isEmpty ? nil : location }
        }
    }

    private let patience: Duration
    /// The locations given on the command line. Folders may be symbolic links to another file system.
    private let roots: [String]
    /// The real paths of the roots that are symbolic links; nil before the first call.
    private let links = Locked<[String: String]?>(nil)
    private let threads = ThreadPool("darkroom-intake", maxThreads: 16)
    /// The hang domains with hanging calls.
    private let hung = Locked<Set<String>>([])
    private let isClosed = Latch()

    /// - Parameters:
    ///   - patience: the time limit of a call.
    ///   - roots: the locations given on the command line. Folders may be symbolic links. Links inside these folders are
    ///     not followed.
    package init(patience: Duration, roots: [String]) {
        self.patience = patience
        self.roots = roots
    }

    /// The hang domain that contains one of these locations and has a hanging call; nil if there is none.
    package func hungDomain(of locations: [String]) -> String? {
        let hung = hung.withLock { $0 }
        guard !hung.isEmpty else { return nil }
        return locations.lazy.filter { !$0.isEmpty }.map(domain(of:)).first { hung.contains($0) }
    }

    /// Runs `body` on a separate thread. Waits until `body` has ended or its access to a place has timed out.
    /// - Parameters:
    ///   - onHang: called on a timeout with the hang domain, before this call returns.
    ///   - onAnswer: called when `body` ends after a timeout, on the thread of `body` and with the same domain.
    ///   - body: passes each location that it accesses to ``Call/accesses(_:)``; without a location there is no time limit.
    /// - Returns: the hang domain that does not answer; nil if `body` has ended, or will not run
    ///   because of ``close()``.
    @discardableResult
    package func perform(
        onHang: (String) -> Void = { _ in }, onAnswer: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable (Call) -> Void
    ) -> String? {
        let call = Call()
        let end = { @Sendable [self] (domain: String) in
            hung.withLock { _ = $0.remove(domain) }
            onAnswer(domain)
        }
        threads.perform { [self] in
            resolveRoots(call)
            body(call)
            if case .hangs(let domain) = call.state.exchange(.done) { end(domain) }
            call.ended.raise()
        }
        while !call.ended.wait(timeout: patience) {
            guard let location = call.location.withLock({ $0 }) else {
                if isClosed.isSet { return nil }  // the pool may have discarded the job
                continue
            }
            let domain = domain(of: location)
            hung.withLock { _ = $0.insert(domain) }
            onHang(domain)
            let isDone = call.state.withLock { state in
                if case .done = state { return true }
                state = .hangs(domain: domain)
                return false
            }
            if isDone { end(domain) }
            return domain
        }
        return nil
    }

    /// Ends the threads. Does not wait for hanging calls.
    package func close() {
        isClosed.set()
        threads.close()
    }

    /// Resolves the symbolic links of the roots at the first call. An access to a root may also hang.
    private func resolveRoots(_ call: Call) {
        let isFirst = links.withLock { links in
            defer { links = links ?? [:] }
            return links == nil
        }
        guard isFirst else { return }
        for root in roots {
            call.accesses(root)
            guard let real = Path.real(root), real != root else { continue }
            links.withLock { $0?[root] = real }
        }
        call.accesses("")
    }

    private func domain(of location: String) -> String {
        StorageSchemes.place(location).hangDomain(links.withLock { $0 ?? [:] })
    }
}
