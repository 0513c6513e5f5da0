import DarkroomConcurrency
import DarkroomFiles

/// Calls of the file system on threads that may hang in them: a file system whose server is gone does not answer.
///
/// Whoever calls goes on after a while, and the thread is left to the call. No further call is made to that file system until it
/// answers.
package final class FolderCalls: Sendable {
    /// A call that is under way.
    package final class Call: Sendable {
        fileprivate enum State { case runs, hangs(mount: String), done }
        fileprivate let state = Locked(State.runs)
        fileprivate let folder = Locked<String?>(nil)
        fileprivate let ended = Signal()

        /// Sets the folder that the call accesses from now on; "" for none.
        package func accesses(_ folder: String) { self.folder.withLock { $0 = folder.isEmpty ? nil : folder } }
    }

    private let patience: Duration
    /// Folders that may lead to another file system than their text says.
    private let roots: [String]
    /// The real paths of those that differ from their text; nil before the first call.
    private let links = Locked<[String: String]?>(nil)
    private let threads = ThreadPool("darkroom-intake", maxThreads: 16)
    /// The mount points of file systems in which a thread hangs.
    private let hung = Locked<Set<String>>([])

    /// - Parameters:
    ///   - patience: how long a call is waited for.
    ///   - roots: the folders of the command line, which may be symbolic links. Below them no link is followed.
    package init(patience: Duration, roots: [String]) {
        self.patience = patience
        self.roots = roots
    }

    /// The mount point of a file system that does not answer and has one of these folders; nil where all do as far as is known.
    package func hungMount(of folders: [String]) -> String? {
        let hung = hung.withLock { $0 }
        guard !hung.isEmpty else { return nil }
        return folders.lazy.filter { !$0.isEmpty }.map(mount(of:)).first { hung.contains($0) }
    }

    /// Runs `body` on a thread of its own and waits until it has ended, or until the file system that it accesses has not answered
    /// for a while.
    /// - Parameters:
    ///   - onHang: called with the mount point before this returns, if a file system does not answer.
    ///   - onAnswer: called with it on the thread of `body` when it has ended after all.
    ///   - body: sets in its argument which folder it accesses. As long as it has set none, it is waited for.
    /// - Returns: the mount point of the file system that does not answer; nil if `body` has ended.
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
            let before = call.state.withLock { state in
                defer { state = .done }
                return state
            }
            if case .hangs(let mount) = before { end(mount) }
            call.ended.raise()
        }
        while !call.ended.wait(timeout: patience) {
            guard let folder = call.folder.withLock({ $0 }) else { continue }
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

    /// Lets the threads end; what a call hangs in is not waited for.
    package func close() { threads.close() }

    /// Finds out where the roots lead, once. That may hang, too.
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
