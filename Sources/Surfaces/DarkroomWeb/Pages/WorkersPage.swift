import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page with the workers of the last hour.
enum WorkersPage {
    static let route = Route(.get, "/workers") { call in
        let store = call.client.store
        let now = try store.time()
        let workers = try store.workers()
        // The last state of a lost worker is outdated: other workers may have claimed its operations.
        let operations = workers.map { $0.isLiving(now: now) ? $0.operations.compactMap(HeldPart.init) : [] }
        var expiries = try store.leaseExpiries(of: operations.joined().map { ($0.batch, $0.number) })[...]
        let rows = zip(workers, operations).map { worker, operations in
            defer { expiries = expiries.dropFirst(operations.count) }
            return row(worker, Array(zip(operations, expiries)), now: now, call.site)
        }
        return Page(
            call.site, title: "Workers", part: .workers,
            [
                .element("h1", [:], "Workers"),
                .element(
                    "div", ["data-refresh": "", "id": "workers"],
                    rows.isEmpty
                        ? .element("p", ["class": "empty"], "There is no worker.")
                        : Fragments.table(
                            "Workers",
                            [
                                "Worker", "Last heartbeat", "Downloads", "Filtrations", "Photos", "Rate", "Memory held",
                                "Held operations", "Batches it cannot run",
                            ],
                            rows)),
            ]
        ).response()
    }

    /// An operation that a worker holds.
    private struct HeldPart {
        let batch: BatchID
        let number: Int

        /// Reads `<batch>/<operation>`.
        init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, let batch = BatchID(parts[0]), let number = Int(parts[1]) else { return nil }
            self.batch = batch
            self.number = number
        }
    }

    private static func row(
        _ worker: WorkerFacts, _ operations: [(part: HeldPart, expiries: Int)], now: Int, _ site: Site
    ) -> [HTML] {
        let isLiving = worker.isLiving(now: now)
        func field(_ name: String) -> String { worker.fields[name] ?? "" }
        func current(_ text: String) -> HTML { .text(isLiving ? text : "-") }
        return [
            .joined([
                .text(worker.id),
                .element(
                    "small", [:],
                    "\(field("host")), process \(field("pid")), version \(field("version"))"
                ),
            ]),
            .element(
                "span", ["class": isLiving ? "state state-executing" : "state state-damaged"],
                .text(worker.seenText(now: now))),
            current("\(worker.number("downloading")) of \(worker.number("downloads"))"),
            current("\(worker.number("filtering")) of \(worker.number("filtrations"))"),
            .text(HumanText.count(worker.number("photos"))), current(HumanText.rate(Double(worker.number("rate")))),
            current(HumanText.bytes(worker.number("bytes.held"))),
            .joined(operations.map { link($0.part, expiries: $0.expiries, site) }),
            .text(isLiving ? worker.refusedText : ""),
        ]
    }

    /// A link to the photos of an operation.
    private static func link(_ part: HeldPart, expiries: Int, _ site: Site) -> HTML {
        .element(
            "a",
            [
                "class": "operation",
                "href": site.link("batches", part.batch.description, query: [("operation", "\(part.number)")]),
                "title": "Operation \(part.number) of batch \(part.batch)",
            ],
            "\(part.number) of batch ...\(part.batch.description.suffix(4))"
                + (expiries > 0 ? " (\(HumanText.count(expiries, of: "lease")) expired)" : ""))
    }
}
