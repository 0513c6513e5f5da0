import DarkroomHTTP

/// A parameter of the query that a route of the HTTP API takes.
struct QueryParameter: Sendable, ExpressibleByStringLiteral {
    let name: String
    /// Whether a query may contain the parameter several times.
    let isRepeatable: Bool

    private init(_ name: String, isRepeatable: Bool) {
        self.name = name
        self.isRepeatable = isRepeatable
    }

    init(stringLiteral name: String) { self.init(name, isRepeatable: false) }

    static func repeatable(_ name: String) -> QueryParameter { QueryParameter(name, isRepeatable: true) }
}

extension [QueryParameter] {
    /// - Throws: ``Problem`` if a query has other parameters than these, or repeats one that is not repeatable.
    func check(_ query: [RequestTarget.Parameter]) throws(Problem) {
        var seen: Set<String> = []
        for name in query.map(\.name) {
            guard let parameter = first(where: { $0.name == name }) else {
                throw .unknown("parameter", name, known: map(\.name), code: "invalidParameter")
            }
            guard seen.insert(name).inserted || parameter.isRepeatable else {
                throw .invalidParameter(name, "is given several times; give it once")
            }
        }
    }
}

extension Problem {
    /// - Parameter text: what is wrong with the parameter, and what to do.
    static func invalidParameter(_ name: String, _ text: String) -> Problem {
        Problem(400, "invalidParameter", "the parameter \"\(name)\" \(text)")
    }

    /// The problem of a name that does not exist.
    /// - Parameter kind: such as "parameter".
    static func unknown(_ kind: String, _ name: String, known: [String], code: String) -> Problem {
        Problem(
            400, code,
            "no \(kind) is called \"\(name)\"; "
                + (known.isEmpty ? "none is possible here" : "possible: " + known.joined(separator: ", ")))
    }
}
