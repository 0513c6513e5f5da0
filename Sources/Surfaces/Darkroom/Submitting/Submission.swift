import DarkroomStore

/// The form for submitting a list: the photos, and everything that Darkroom does with them.
///
/// ```swift
/// var submission = Submission("photos.csv")
/// submission.name = "holidays"
/// submission.output = "/mnt/photos"
/// submission.filters = [.resize(within: 800, by: 600)]
/// submission.list.limit = 100
/// let batch = try await client.submit(submission)
/// ```
///
/// The properties of ``BatchOptions`` are also properties of the form. `output` and `originals` must be absolute paths.
/// The form is checked when it is submitted or examined; ``DarkroomError/field`` is the field whose value is invalid.
@dynamicMemberLookup
public struct Submission: Sendable {
    /// The photos.
    public var list: PhotoList
    /// The template of file names with `{index}`, `{name}` or `{stem}`; nil means `{stem}` or `{name}` for a property
    /// list whose names are distinct, and `{index}-{name}` for every other list.
    public var fileName: String?
    /// Batches that must finish before the batch starts, at most 100. The list is fed while the batch waits.
    public var after: [BatchID] = []
    /// Whether the batch takes the output folder even if another batch has taken it.
    public var overwrite = false
    /// The number of replicas of Redis that must confirm the batch; nil means one if Redis has replicas. The submission
    /// waits at most 10 seconds for the replicas.
    public var replicas: Int?
    /// The options of the batch. Their file name template is replaced, see ``options(for:)``.
    package var options = BatchOptions()
    /// More batches for ``after``: ids, beginnings of ids, or names.
    package var batchesBefore: [String] = []

    /// A form with the default values.
    public init(_ list: PhotoList) { self.list = list }

    /// A form for the list at a location, see ``PhotoList``.
    public init(_ location: String) { self.init(PhotoList(location)) }

    /// A property of ``BatchOptions``.
    public subscript<Value>(dynamicMember property: WritableKeyPath<BatchOptions, Value>) -> Value {
        get { options[keyPath: property] }
        set { options[keyPath: property] = newValue }
    }
}

extension Submission {
    /// A copy of the form, in which the batches that must finish first are given by their ids in place of their names.
    /// - Throws: ``FieldError`` if a name is not the name of one batch; ``StoreError`` if Redis fails.
    package func resolved(in client: DarkroomClient) throws -> Submission {
        do throws(StoreError) {
            var resolved = self
            resolved.after += try client.batches(named: batchesBefore).map(\.id).filter { !after.contains($0) }
            resolved.batchesBefore = []
            return resolved
        } catch {
            guard [.noSuchBatch, .ambiguousBatch].contains(error.code) else { throw error }
            throw FieldError(.after, "\(error)")
        }
    }
}

extension DarkroomClient {
    /// The named batches, each once.
    package func batches(named names: [String]) throws(StoreError) -> [BatchFacts] {
        var batches: [BatchFacts] = []
        for name in names {
            let batch = try store.batch(named: name)
            if !batches.contains(where: { $0.id == batch.id }) { batches.append(batch) }
        }
        return batches
    }
}
