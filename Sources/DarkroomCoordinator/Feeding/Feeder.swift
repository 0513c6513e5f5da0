import DarkroomModel
import DarkroomStore

/// How much a list had.
typealias FedTotals = (operations: Int, photos: Int)

/// Reads a list once and feeds what Redis does not have of it.
///
/// The feeder is handed every photo of the list from the first on. The photos that Redis has already are only digested, and
/// at the last of them the digest is compared, so a list that differs is noticed before anything of it is fed. A list that
/// goes on behind the last photo of a batch that was fed to its end has grown: the batch is opened again for the rest.
final class Feeder {
    private let present: BatchFacts
    private let store: BatchStore
    private let control: FeedControl
    private var packer: OperationPacker
    private let pipeline: FeedPipeline
    private let flush: PausedListFlush
    private var photos = 0
    /// True while the batch takes operations behind those it had.
    private var isOpen: Bool

    /// A feeder of a batch that stands in Redis as `facts` say.
    init(store: BatchStore, facts: BatchFacts, control: FeedControl) {
        present = facts
        self.store = store
        self.control = control
        packer = OperationPacker(size: facts.options.operationSize)
        pipeline = FeedPipeline(store: store, batch: facts.id, confirmed: facts.operations, control: control)
        isOpen = !facts.sealed && facts.photos == facts.operations * facts.options.operationSize
        flush = PausedListFlush(pipeline)
    }

    deinit { flush.stop() }

    /// Takes the list's next photo; blocks while too many operations are on their way.
    func append(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) throws {
        packer.append(name: name, url: url)
        photos += 1
        if photos == present.photos { try compare() }
        if packer.isFull { try complete() }
    }

    /// Takes that the list has ended, and blocks until Redis has all of it.
    func finish() throws -> FedTotals {
        guard photos >= present.photos else {
            throw differs("it ends after \(photos) of the \(present.photos) photos fed before")
        }
        if packer.photos > 0 { try complete() }
        try pipeline.finish()
        return (packer.number - 1, photos)
    }

    private func complete() throws {
        guard photos > present.photos else {
            _ = packer.skip()
            return
        }
        let operation = packer.pack()
        let isLast = operation.number == present.operations
        if !isOpen { try open(last: isLast ? operation : nil) }
        if !isLast { try pipeline.feed(operation) }
    }

    /// Opens the batch for what follows, once its last operation does not execute.
    private func open(last: PackedOperation?) throws {
        if !present.options.output.isEmpty,
            let other = OutputFolder(path: present.options.output).taker(since: present)
        {
            throw outputTaken(by: other)
        }
        control.notice(.growing(from: present.photos))
        while true {
            let reply = try control.retrying {
                try store.perform(
                    store.grow(
                        present.id, fed: (present.operations, present.photos, present.feedDigest),
                        last: last.map { ($0.photos, $0.entry, $0.digest) }))
            }
            switch reply {
            case .grown:
                isOpen = true
                return
            case .busy: control.wait(for: .milliseconds(100))
            case .differs: throw FeedPipeline.ReadAgain.overtaken
            case .outputTaken(let other): throw outputTaken(by: other)
            case .cancelled: throw FeedPipeline.Cancelled()
            case .gone: throw Coordinator.gone(present.id)
            }
        }
    }

    private func outputTaken(by other: BatchID) -> CoordinatorError {
        CoordinatorError(
            .outputTaken,
            "batch \(present.id): batch \(other) has taken its output folder \(present.options.output), so no photos are added; "
                + "submit the list as a new batch into another folder, or take the folder back with: darkroom retry "
                + "\(present.id) --overwrite")
    }

    private func compare() throws {
        guard packer.digestSoFar != present.feedDigest else { return }
        let first = photos == 1 ? "its first photo is not the one" : "its first \(photos) photos are not those"
        throw differs("\(first) fed before: one was changed, added, removed or moved")
    }

    private func differs(_ how: String) -> CoordinatorError {
        CoordinatorError(
            .listDiffers,
            "batch \(present.id): this photo list is not the one it was begun with: \(how). Photos may be added behind the "
                + "last one, nothing else: give the list as it was, corrected lines added at its end, or this one as a new "
                + "batch")
    }
}
