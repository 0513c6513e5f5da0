import Darkroom
import DarkroomHTTP

/// The routes of the live changes of a batch.
enum LiveRoutes {
    static let all: [Route] = [
        Route(.get, "\(BatchRoutes.path)/{batch}/events", query: ["first", "count"], answer: events),
        // Moving a view changes nothing in Redis, so read-only servers allow this route, except for its field `follow`.
        Route(.put, "/api/v1/streams/{stream}/view", effect: Route.Effect.none, answer: move),
    ]

    /// Server-sent events: `?first=0&count=200`. The first event, `stream`, contains the id with which the client moves
    /// its view.
    @Sendable private static func events(_ call: Call) throws -> HTTPResponse {
        let window = try window(
            first: call.number("first", in: 0...Int(Int32.max), default: 0),
            count: call.number("count", in: 0...StateWindow.mostPhotos, default: 200))
        let batch = try call.batch()
        guard let viewer = call.site.hub.add(batch.id, window: window) else {
            throw Problem(
                503, "busy", "too many pages watch this server; at most \(call.site.configuration.mostViewers) can")
        }
        return HTTPResponse(
            headers: [
                ("Content-Type", "text/event-stream"),
                // With this field, nginx does not buffer the response.
                ("X-Accel-Buffering", "no"),
            ], body: .stream(viewer.stream))
    }

    /// `{"first": 400, "count": 600, "follow": "600-799"}`: the photos whose states the client wants, and the photos that
    /// run first, if any.
    @Sendable private static func move(_ call: Call) throws -> HTTPResponse {
        let fields = try call.fields("first", "count", "follow")
        guard let viewer = call.site.hub.viewer(call.parameter("stream")) else {
            throw Problem(404, "noSuchStream", "the stream has ended; open the events of the batch again")
        }
        let (first, count) = (try fields.number("first") ?? 0, try fields.number("count") ?? 0)
        guard (0...Int(Int32.max)).contains(first), (0...StateWindow.mostPhotos).contains(count) else {
            throw Problem(
                400, "invalidField",
                "the view of \(count) photos from \(first): from 0 to \(StateWindow.mostPhotos) photos are possible")
        }
        let followed = try fields.text("follow").map { text throws(Problem) in try call.range(text, of: "follow") }
        if followed != nil, call.site.configuration.isReadOnly { throw Problem.readOnly }
        call.site.hub.move(viewer, to: window(first: first, count: count))
        call.site.hub.follow(viewer, followed)
        return HTTPResponse(status: 204)
    }

    private static func window(first: Int, count: Int) -> Range<Int> { first..<first + count }
}
