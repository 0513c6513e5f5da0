import Darkroom

/// A remedy that a page can carry out: a button, or a link to a page that asks for a confirmation.
struct RemedyAction {
    let text: String
    /// The last component of the address, for example `resume`.
    let name: String
    /// The batch; nil for the cluster.
    let batch: BatchID?
    var fields: [(name: String, value: String)] = []
    /// Whether the address is a page, which changes nothing until the user confirms.
    var isLink = false

    /// The form of an action in the HTTP API.
    var json: JSON {
        [
            "text": .string(text), "name": .string(name), "batch": JSON(batch?.description), "isLink": .bool(isLink),
            "fields": .object(fields.map { JSON.Member(key: $0.name, value: .string($0.value)) }),
        ]
    }

    func html(_ site: Site) -> HTML {
        let address = batch.map { site.link("batches", $0.description, name) } ?? site.link("cluster", name)
        if isLink { return .element("a", ["class": "button", "href": address], text) }
        let api =
            batch.map { site.link("api", "v1", "batches", $0.description, name) } ?? site.link("api", "v1", name)
        return Fragments.button(text, address, api: api, fields: fields)
    }
}

extension Remedy {
    /// The action for this remedy; nil if a page cannot carry it out.
    var action: RemedyAction? {
        switch self {
        case .resume(let batch, let part):
            RemedyAction(
                text: part == .everything ? "Resume" : "Resume \(part.rawValue)", name: "resume", batch: batch,
                fields: [("part", part.rawValue)])
        case .prioritize(let batch, let priority):
            RemedyAction(
                text: "Set priority \(priority.rawValue)", name: "priority", batch: batch,
                fields: [("priority", priority.rawValue)])
        case .cancel(let batch): RemedyAction(text: "Cancel...", name: "cancel", batch: batch, isLink: true)
        case .forget(let batch), .submitAgain(let batch):
            RemedyAction(text: "Forget...", name: "forget", batch: batch, isLink: true)
        case .retry(let batch?): RemedyAction(text: "Retry...", name: "retry", batch: batch, isLink: true)
        default: nil
        }
    }
}
