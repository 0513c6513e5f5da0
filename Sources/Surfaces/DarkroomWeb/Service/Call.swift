import Darkroom
import DarkroomHTTP
import DarkroomStore

/// A request that a route answers.
struct Call: Sendable {
    let site: Site
    let request: HTTPRequest
    /// Whether the client has closed its connection, see `HTTPExchange`.
    let clientHasLeft: @Sendable () -> Bool
    /// The variable components of the path.
    private let parameters: [String: String]

    init(
        _ site: Site, _ request: HTTPRequest, _ parameters: [String: String],
        clientHasLeft: @escaping @Sendable () -> Bool
    ) {
        self.site = site
        self.request = request
        self.clientHasLeft = clientHasLeft
        self.parameters = parameters
    }

    var client: DarkroomClient { site.client }

    /// A component of the path.
    func parameter(_ name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("the pattern of the route has no {\(name)}") }
        return value
    }

    /// The batch in the path: an id, the beginning of an id, or a name.
    func batch() throws -> BatchFacts {
        let name = parameter("batch")
        // Pages use ids, for which no search is needed.
        if let id = BatchID(name), let facts = try client.store.facts(of: id) { return facts }
        return try client.store.batch(named: name)
    }

    /// The batch in the path, which has no damage.
    func soundBatch() throws -> BatchFacts {
        let batch = try batch()
        try batch.requireSoundness()
        return batch
    }

    /// The index in the path: the index of a photo of the batch.
    func photo(of batch: BatchFacts) throws(Problem) -> Int {
        let text = parameter("index")
        guard let index = Int(text), (0..<batch.photos).contains(index) else {
            throw Problem(
                404, "noSuchPhoto",
                "batch \(batch.label) has no photo \"\(text)\"; it has the photos 0 to \(batch.photos - 1)")
        }
        return index
    }

    /// A number in the query.
    /// - Throws: ``Problem`` if it is not a number of this range.
    func number(_ name: String, in range: ClosedRange<Int>, default standard: Int) throws(Problem) -> Int {
        guard let text = request.target[name], !text.isEmpty else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw .invalidParameter(
                name, "is \"\(text)\"; it must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A text in the query; nil if it is missing or empty.
    func text(_ name: String) -> String? { request.target[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The fields of the body.
    func fields(_ allowed: String...) throws(Problem) -> FormFields {
        let fields = try FormFields(request)
        try fields.require(only: allowed)
        return fields
    }
}
