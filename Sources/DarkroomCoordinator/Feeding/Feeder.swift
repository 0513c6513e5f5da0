import DarkroomModel
import DarkroomStore

/// How much a list had.
typealias FedTotals = (operations: Int, photos: Int)

/// Reads a list once and feeds what Redis does not have of it.
///
/// The feeder is handed every photo of the list from the first on. The operations that Redis has already are only digested,
/// and at the last of them the digest is compared, so a list that differs is noticed before anything of it is fed.
final class Feeder {
    private let batch: BatchID
    private let present: Int
    private let presentDigest: String
    private var packer: OperationPacker
    private let pipeline: FeedPipeline
    private var photos = 0

    /// A feeder of a batch that stands in Redis as `facts` say.
    init(store: BatchStore, facts: BatchFacts, control: FeedControl) {
        batch = facts.id
        present = facts.operations
        presentDigest = facts.feedDigest
        packer = OperationPacker(size: facts.options.operationSize)
        pipeline = FeedPipeline(store: store, batch: facts.id, confirmed: facts.operations, control: control)
    }

    /// Takes the list's next photo; blocks while too many operations are on their way.
    func append(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) throws {
        packer.append(name: name, url: url)
        photos += 1
        if packer.isFull { try complete() }
    }

    /// Takes that the list has ended, and blocks until Redis has all of it.
    func finish() throws -> FedTotals {
        if packer.photos > 0 { try complete() }
        let operations = packer.number - 1
        guard operations >= present else {
            throw differs("it ends after \(operations) of the \(present) operations fed before")
        }
        try pipeline.finish()
        return (operations, photos)
    }

    private func complete() throws {
        let number = packer.number
        guard number <= present else { return try pipeline.feed(packer.pack()) }
        let digest = packer.skip()
        guard number < present || digest == presentDigest else {
            throw differs("something before photo \(photos) is not what was fed")
        }
    }

    private func differs(_ how: String) -> CoordinatorError {
        CoordinatorError(
            .listDiffers,
            "batch \(batch): this photo list is not the one it was begun with: \(how); resume with the same list, or submit "
                + "this one as a new batch")
    }
}
