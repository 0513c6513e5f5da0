import DarkroomConcurrency
import DarkroomFiles

/// Runs file system calls on its own threads, because a call may hang, for example if a file server is unreachable.
///
/// If a call times out, the caller continues, and the thread stays in the call. Until the hanging call returns, no
/// further call is made to its file system.
package final class FolderCalls: Sendable {
    package final class Call: Sendable {
        fileprivate enum State { case runs, hangs(mount: String), done }
        fileprivate let state = Locked(State.runs)
        fileprivate let folder = Locked<String?>(nil)
        fileprivate let ended = Signal()

        /// Sets the folder that the call accesses from now on; "" means that it accesses no folder.
        package func accesses(_ folder: String) { self.folder.withLock { $0 = folder.isEmpty ? nil : folder } }
    }

    private let patience: Duration
    /// The folders given on the command line, which may be symbolic links to another file system.
    private let roots: [String]
    /// The real paths of the roots that are symbolic links; nil before the first call.
    private let links = Locked<[String: String]?>(nil)
    private let threads = ThreadPool("darkroom-intake", maxThreads: 16)
    /// The mount points of the file systems with hanging calls.
    private let hung = Locked<Set<String>>([])
    private let isClosed = Latch()

    /// - Parameters:
    ///   - patience: the time limit of a call.
    ///   - roots: the folders given on the command line, which may be symbolic links. Links inside these folders are
    ///     not followed.
    package init(patience: Duration, roots: [String]) {
        self.patience = patience
        self.roots = roots
    }

    /// The mount point of a file system that contains one of these folders and has a hanging call; nil if there is
    /// none.
    package func hungMount(of folders: [String]) -> String? {
        let hung = hung.withLock { $0 }
        guard !hung.isEmpty else { return nil }
        return folders.lazy.filter { !$0.isEmpty }.map(mount(of:)).first { hung.contains($0) }
    }

    /// Runs `body` on a separate thread. Waits until `body` has ended or its access to a folder has timed out.
    /// - Parameters:
    ///   - onHang: called on a timeout with the mount point of the file system, before this call returns.
    ///   - onAnswer: called when `body` ends after a timeout, on the thread of `body` and with the same mount point.
    ///   - body: passes each folder that it accesses to ``Call/accesses(_:)``; without a folder there is no time limit.
    /// - Returns: the mount point of the file system that does not answer; nil if `body` has ended, or will not run
    ///   because of ``close()``.
    @discardableResult
    package func perform(
        onHang: (String) -> Void = { _ in }, onAnswer: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable (Call) -> Void
    ) -> String? {
        let call = Call()
        let end = { @Sendable [self] (mount: String) in
            hung.withLock { _ = $0.remove(mount) }
            onAnswer(mount)
        }
        threads.perform { [self] in
            resolveRoots(call)
            body(call)
            if case .hangs(let mount) = call.state.exchange(.done) { end(mount) }
            call.ended.raise()
        }
        while !call.ended.wait(timeout: patience) {
            guard let folder = call.folder.withLock({ $0 }) else {
                if isClosed.isSet { return nil }  // the pool may have discarded the job
                continue
            }
            let mount = mount(of: folder)
            hung.withLock { _ = $0.insert(mount) }
            onHang(mount)
            let isDone = call.state.withLock { state in
                if case .done = state { return true }
                state = .hangs(mount: mount)
                return false
            }
            if isDone { end(mount) }
            return mount
        }
        return nil
    }

    /// Ends the threads. Does not wait for hanging calls.
    package func close() {
        isClosed.set()
        threads.close()
    }

    /// Resolves the symbolic links of the roots at the first call. This may also hang.
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

    private func mount(of folder: String) -> String {
        for (root, real) in links.withLock({ $0 ?? [:] }) {
            if let part = Folder.part(of: folder, below: root) { return MountPoint.of(Path.joined(real, part)) }
        }
        return MountPoint.of(folder)
    }
}
