import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The forms that control a batch. They make the same calls as the HTTP API, and then show the page of the batch.
enum BatchActions {
    private static let path = "/batches/{batch}"

    static let routes: [Route] = [
        form("suspend", BatchRoutes.suspend), form("resume", BatchRoutes.resume),
        form("priority", BatchRoutes.prioritize), form("cancel", BatchRoutes.cancel),
        Route(.post, "\(path)/retry") { call in
            let retried = try BatchRoutes.retried(call).photos
            let query = [("retried", "\(retried.photos)"), ("notKept", "\(retried.notKept)")]
            return call.site.seeOther(call.site.link("batches", call.parameter("batch"), query: query))
        },
        Route(.post, "\(path)/forget") { call in
            _ = try BatchRoutes.forget(call)
            return call.site.seeOther(call.site.link())
        },
        Route(.get, "\(path)/cancel", effect: .changes, answer: cancel),
        Route(.get, "\(path)/retry", effect: .changes, answer: retry),
        Route(.get, "\(path)/forget", effect: .changes, answer: forget),
    ]

    private static func form(
        _ name: String, _ perform: @escaping @Sendable (Call) throws -> HTTPResponse
    ) -> Route {
        Route(.post, "\(path)/\(name)") { call in
            _ = try perform(call)
            return call.site.seeOther(call.site.link("batches", call.parameter("batch")))
        }
    }

    @Sendable private static func cancel(_ call: Call) throws -> HTTPResponse {
        let batch = try call.batch()
        let left = batch.photos - batch.counts.final
        return ask(
            call, batch, "cancel", title: "Cancel the batch?",
            [
                "\(HumanText.count(left, of: "photo")) of \(HumanText.count(batch.photos)) will not be developed. "
                    + "\(HumanText.count(batch.counts.filtered, of: "filtered photo")) will be kept.",
                "This cannot be undone.",
            ],
            [
                .element(
                    "label", [:], .text("Reason "),
                    .void("input", ["name": "reason", "maxlength": "200", "autocomplete": "off"]))
            ], button: "Cancel \(HumanText.count(left, of: "photo"))")
    }

    @Sendable private static func retry(_ call: Call) throws -> HTTPResponse {
        let batch = try call.batch()
        let boxes = batch.failuresByCount.map { reason, count in
            HTML.element(
                "label", ["class": "box"],
                .void("input", ["type": "checkbox", "name": "reason", "value": reason.word]),
                .text(" \(reason.word): \(HumanText.count(count, of: "photo"))"))
        }
        return ask(
            call, batch, "retry", title: "Retry failed photos?",
            [
                "\(HumanText.count(batch.counts.failed, of: "photo")) of \(HumanText.count(batch.photos)) failed. "
                    + "Without a choice of reasons, all of them are retried."
            ], [.element("fieldset", [:], [.element("legend", [:], "Only photos that failed because of")] + boxes)],
            button: "Retry")
    }

    @Sendable private static func forget(_ call: Call) throws -> HTTPResponse {
        let batch = try call.batch()
        let isFinished = batch.state == .finished
        return ask(
            call, batch, "forget", title: "Forget the batch?",
            [
                "The batch is removed from Redis. Its files and its manifest remain in the output folder.",
                isFinished ? "" : "The batch has not finished: \(batch.unfinishedText). They will not be developed.",
            ], isFinished ? [] : [.void("input", ["type": "hidden", "name": "force", "value": "true"])],
            button: "Forget")
    }

    /// A page that asks for a confirmation.
    private static func ask(
        _ call: Call, _ batch: BatchFacts, _ action: String, title: String, _ texts: [String], _ fields: [HTML],
        button: String
    ) -> HTTPResponse {
        let site = call.site, id = batch.id.description
        return Page(
            site, title: title, part: .batches,
            [
                .element("h1", [:], title), .element("p", [:], batch.label),
                .joined(texts.filter { !$0.isEmpty }.map { .element("p", [:], $0) }),
                .element(
                    "form", ["method": "post", "action": site.link("batches", id, action), "class": "ask"],
                    fields + [
                        .element(
                            "p", ["class": "controls"], .element("button", ["class": "primary"], button),
                            .element("a", ["class": "button", "href": site.link("batches", id)], "Back"))
                    ]),
            ]
        ).response()
    }
}
