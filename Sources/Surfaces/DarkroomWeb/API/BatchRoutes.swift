import Darkroom
import DarkroomCoordinator
import DarkroomHTTP
import DarkroomStore

/// The routes that list and control batches.
enum BatchRoutes {
    static let path = "/api/v1/batches"

    static let all: [Route] = [
        Route(.get, path, query: BatchPage.query, answer: list),
        Route(.get, "\(path)/{batch}") { call in try call.result(of: call.batch()) },
        Route(.delete, "\(path)/{batch}", query: ["force"], answer: forget),
        Route(.post, "\(path)/{batch}/cancel", answer: cancel),
        Route(.post, "\(path)/{batch}/suspend", answer: suspend),
        Route(.post, "\(path)/{batch}/resume", answer: resume),
        Route(.post, "\(path)/{batch}/priority", answer: prioritize),
        Route(.post, "\(path)/{batch}/retry", answer: retry),
        Route(.put, "\(path)/{batch}/focus", answer: focus),
        Route(.delete, "\(path)/{batch}/focus") { call in
            let batch = try call.batch()
            try call.client.control.clearFocus(batch.id)
            return try call.result(of: call.refreshed(batch))
        },
        Route(.get, "\(path)/{batch}/operations", query: ["after", "limit"], answer: operations),
        Route(.get, "\(path)/{batch}/hosts") { call in
            let (batch, store) = (try call.batch(), call.client.store)
            return HTTPResponse(JSON(HostList(try store.workers(), now: try store.time(), of: batch.id)))
        },
    ]

    /// The batches, newest first: `?state=executing&limit=50&after=ID`.
    @Sendable private static func list(_ call: Call) throws -> HTTPResponse {
        let page = try BatchPage(call)
        let batches = page.batches.map {
            BatchTexts(batch: $0, now: page.now, problems: page.problems.of($0)).facts
        }
        return HTTPResponse(["batches": .array(batches), "next": JSON(page.next?.description)])
    }

    /// Forgets a batch. `force` can be in the query or in the body: many programs cannot send a body with DELETE.
    @Sendable static func forget(_ call: Call) throws -> HTTPResponse {
        let isForced = try call.fields("force").flag("force") || FormFields(call.request.target.query).flag("force")
        let batch = try call.batch()
        guard try call.client.control.forget(batch.id, unfinished: isForced) != nil else {
            return HTTPResponse(status: 204)
        }
        throw Problem(
            409, "batchUnfinished",
            "batch \(batch.label) has not finished: \(batch.unfinishedText); wait until it has finished, or forget "
                + "it with force=true")
    }

    @Sendable static func cancel(_ call: Call) throws -> HTTPResponse {
        let fields = try call.fields("photos", "reason")
        let batch = try call.batch()
        if let text = try fields.text("photos") {
            let cancelled = try call.client.control.cancel(call.ranges(text), of: batch.id)
            return try call.result(
                of: call.refreshed(batch),
                ["photosCancelled": .int(cancelled.cancelled), "photosFinalBefore": .int(cancelled.wereFinal)])
        }
        guard case .cancelled = try call.client.control.cancel(batch.id, reason: fields.text("reason") ?? "") else {
            throw Problem(409, "batchFinished", "batch \(batch.label) has finished, so there is nothing left to cancel")
        }
        return try call.result(of: call.refreshed(batch))
    }

    @Sendable static func suspend(_ call: Call) throws -> HTTPResponse { try change(call) { try $0.suspend($1, $2) } }

    @Sendable static func resume(_ call: Call) throws -> HTTPResponse { try change(call) { try $0.resume($1, $2) } }

    /// Suspends or resumes a part of a batch.
    private static func change(
        _ call: Call, _ change: (BatchController, BatchID, QueuePart) throws -> Bool
    ) throws -> HTTPResponse {
        let part = try call.part()
        let batch = try call.batch()
        _ = try change(call.client.control, batch.id, part)
        return try call.result(of: call.refreshed(batch))
    }

    @Sendable static func prioritize(_ call: Call) throws -> HTTPResponse {
        let word = try call.fields("priority").text("priority") ?? ""
        guard let priority = BatchPriority(rawValue: word) else {
            throw Problem(
                400, "invalidField",
                "the field \"priority\" is \"\(word)\"; it can be "
                    + BatchPriority.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let batch = try call.batch()
        _ = try call.client.control.prioritize(batch.id, priority)
        return try call.result(of: call.refreshed(batch))
    }

    @Sendable static func retry(_ call: Call) throws -> HTTPResponse {
        let (batch, retried) = try retried(call)
        return try call.result(
            of: call.refreshed(batch), ["retried": .int(retried.photos), "notKept": .int(retried.notKept)])
    }

    /// Retries the failed photos that a request names.
    static func retried(_ call: Call) throws -> (batch: BatchFacts, photos: RetriedPhotos) {
        let fields = try call.fields("reason", "overwrite")
        let reasons = try fields.all("reason").filter { !$0.isEmpty }.map { word in
            guard let reason = FailureReason(word: word) else {
                throw Problem(
                    400, "invalidField", "the field \"reason\" is \"\(word)\"; \(FailureReason.possible)")
            }
            return reason
        }
        let batch = try call.batch()
        let overwrite = try fields.flag("overwrite")
        return (batch, try call.client.control.retry(batch.id, reasons: reasons, overwrite: overwrite))
    }

    @Sendable private static func focus(_ call: Call) throws -> HTTPResponse {
        let fields = try call.fields("photos", "only")
        let range = try call.range(try fields.text("photos") ?? "", of: "photos")
        let batch = try call.batch()
        let set = try call.client.control.focus(batch.id, range, only: try fields.flag("only"))
        return try call.result(of: call.refreshed(batch), ["fed": .int(set.fed)])
    }

    /// The operations of a batch: `?after=NUMBER&limit=100`.
    @Sendable private static func operations(_ call: Call) throws -> HTTPResponse {
        let batch = try call.soundBatch()
        let after = try call.number("after", in: 0...Int(Int32.max), default: 0)
        let limit = try call.number("limit", in: 1...1000, default: 100)
        var operations: [JSON] = []
        let last = min(batch.operations, after + limit)
        if after < last {
            try OperationListing(batch, in: call.client).forEach(in: after + 1...last) {
                operations.append(JSON($0, of: batch))
            }
        }
        return HTTPResponse(["operations": .array(operations), "next": last < batch.operations ? .int(last) : .null])
    }
}

/// A page of the list of batches, newest first.
struct BatchPage {
    let batches: [BatchFacts]
    /// The last batch of this page, if there are further batches.
    let next: BatchID?
    /// Redis time, in milliseconds since 1970.
    let now: Int
    let problems: BatchProblems

    static let query: [QueryParameter] = ["state", "limit", "after"]

    /// Reads the page that the query of a request names.
    init(_ call: Call) throws {
        let state = try call.text("state").map { word in
            guard let state = BatchState(rawValue: word) else {
                throw Problem.invalidParameter(
                    "state",
                    "is \"\(word)\"; it can be " + ClusterStatus.states.map(\.rawValue).joined(separator: ", "))
            }
            return state
        }
        let limit = try call.number("limit", in: 1...200, default: 50)
        let store = call.client.store
        // Sorted, so that pages continue at the same place if the last batch of a page was forgotten.
        let isOpen = state.map { $0 != .finished } ?? false
        var ids = try (isOpen ? store.openBatchIDs() : store.batchIDs()).sorted(by: >)[...]
        if let after = call.text("after") {
            // The batch may be forgotten, so its id only needs the form of a batch id.
            guard let last = BatchID(after), last.hasTimeOfSubmission || ids.contains(last) else {
                throw Problem.invalidParameter(
                    "after",
                    "is \"\(after)\", not the id of a batch; give \"next\" of the page before, or leave it out for the first page"
                )
            }
            // If that batch has been forgotten, continues with the batches that were submitted before it.
            ids = ids.drop { $0 >= last }
        }
        var batches: [BatchFacts] = []
        while batches.count <= limit, !ids.isEmpty {
            batches += try store.facts(of: Array(ids.prefix(200))).filter { state == nil || $0.state == state }
            ids = ids.dropFirst(200)
        }
        next = batches.count > limit ? batches[limit - 1].id : nil
        self.batches = Array(batches.prefix(limit))
        now = try store.time()
        problems = try store.problems(of: self.batches, now: now)
    }
}

extension Call {
    /// The facts of a batch.
    func result(of batch: BatchFacts, _ numbers: JSON = [:]) throws -> HTTPResponse {
        let now = try client.store.time()
        let problems = try client.store.problems(of: [batch], now: now)
        let facts = BatchTexts(batch: batch, now: now, problems: problems.of(batch)).facts
        let hosts = JSON(topOf: problems.hosts(of: batch.id))
        return HTTPResponse(facts.adding(hosts).adding(JSON(problems.waited(of: batch))).adding(numbers))
    }

    func refreshed(_ batch: BatchFacts) throws -> BatchFacts { try facts(of: batch.id) }

    func facts(of id: BatchID) throws -> BatchFacts {
        guard let facts = try client.store.facts(of: id) else { throw CoordinatorError.gone(id) }
        return facts
    }

    /// The field `part` of the body: the downloads, the filtrations or everything.
    func part() throws(Problem) -> QueuePart {
        guard let word = try fields("part").text("part") else { return .everything }
        guard let part = QueuePart(rawValue: word) else {
            throw Problem(
                400, "invalidField",
                "the field \"part\" is \"\(word)\"; it can be "
                    + QueuePart.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return part
    }

    /// The single range in a field of the body.
    func range(_ text: String, of field: String) throws(Problem) -> ClosedRange<Int> {
        let ranges = try ranges(text).ranges
        guard ranges.count == 1, let range = ranges.first else {
            throw Problem(400, "invalidField", "the field \"\(field)\" must be one range, such as 40-60")
        }
        return range
    }

    func ranges(_ text: String) throws(Problem) -> PhotoRanges {
        do throws(InvalidPhotoRanges) {
            return try PhotoRanges(parsing: text)
        } catch {
            throw Problem(400, "invalidField", "\(error)")
        }
    }

}

extension FailureReason {
    /// The possible words of a reason, as a part of messages.
    static let possible = "it can be " + allCases.map(\.word).joined(separator: ", ")
}
