import DarkroomConcurrency
import DarkroomModel
import DarkroomStorage
import DarkroomStore

typealias FedTotals = (operations: Int, photos: Int)

/// Feeds those photos of a list that Redis does not have yet.
///
/// The feeder receives all photos of the list, beginning with the first. It does not feed photos that Redis already
/// has, but computes their digest. After the last of these photos it compares the digest, so that it detects a
/// different list before it feeds a photo. If the list contains more photos than the sealed batch, the feeder reopens
/// the batch and adds the new photos.
final class Feeder {
    private let present: BatchFacts
    private let store: BatchStore
    private let control: FeedControl
    private var packer: OperationPacker
    private let pipeline: FeedPipeline
    /// Sends complete operations while the feeding thread waits for more of the list.
    private let flush: PeriodicThread
    private var photos = 0
    /// True while the batch accepts operations.
    private var isOpen: Bool

    init(store: BatchStore, facts: BatchFacts, control: FeedControl) {
        present = facts
        self.store = store
        self.control = control
        packer = OperationPacker(size: facts.options.operationSize)
        pipeline = FeedPipeline(store: store, batch: facts.id, confirmed: facts.operations, control: control)
        isOpen = !facts.sealed && facts.photos == facts.operations * facts.options.operationSize
        flush = PeriodicThread("feed-flush", every: .milliseconds(250)) { [pipeline] in pipeline.flush() }
    }

    deinit { flush.stop() }

    /// Adds the next photo of the list. Blocks while too many operations are in flight.
    func append(_ entry: ListEntry) throws {
        packer.append(entry)
        photos += 1
        if photos == present.photos { try compare() }
        if packer.isFull { try complete() }
    }

    /// Ends the list. Blocks until Redis has confirmed all operations.
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

    /// Reopens the batch for more operations. Waits while a worker is executing the last operation.
    private func open(last: PackedOperation?) throws {
        if !present.options.output.isEmpty,
            let other = StorageSchemes.place(present.options.output).taker(since: present)
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
            case .gone: throw CoordinatorError.gone(present.id)
            }
        }
    }

    private func outputTaken(by other: BatchID) -> CoordinatorError {
        CoordinatorError(
            .outputTaken,
            "batch \(present.id): batch \(other) has taken its output \(present.options.output), so no photos are added",
            .submitElsewhere, .takeOutputBack(present.id))
    }

    private func compare() throws {
        guard packer.digestSoFar != present.feedDigest else { return }
        let first = photos == 1 ? "its first photo is not the one" : "its first \(photos) photos are not those"
        throw differs("\(first) fed before: one was changed, added, removed or moved")
    }

    private func differs(_ how: String) -> CoordinatorError {
        CoordinatorError(
            .listDiffers,
            "batch \(present.id): this photo list is not the one it was begun with: \(how). Photos may only be added after the "
                + "last one: give the unchanged list with corrected lines added at its end, or submit this list as a new "
                + "batch")
    }
}
