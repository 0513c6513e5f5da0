import DarkroomTestSupport
import Testing

/// The OpenAPI document of the server.
struct APIContract: Sendable {
    static let root = "/api/v1"

    /// What the document says about a method of a path.
    struct Operation: Sendable {
        /// In capital letters.
        let method: String
        /// With names in braces.
        let path: String
        let description: JSONValue

        var name: String { "\(method) \(path)" }
        var statuses: [String] { (description["responses"]?.object ?? [:]).keys.sorted() }
    }

    let checker: SchemaChecker
    let operations: [Operation]

    init(_ document: JSONValue) {
        checker = SchemaChecker(document: document)
        operations = (document["paths"]?.object ?? [:]).flatMap { path, methods in
            (methods.object ?? [:]).map { Operation(method: $0.uppercased(), path: path, description: $1) }
        }.sorted { $0.name < $1.name }
    }

    /// The operation of a request.
    /// - Parameter target: a path with a query.
    func operation(_ method: String, _ target: String) -> Operation? {
        let path = target.prefix { $0 != "?" }.dropFirst(Self.root.count)
        let given = path.split(separator: "/")
        let matching = operations.filter { operation in
            let parts = operation.path.split(separator: "/")
            return operation.method == method && parts.count == given.count
                && zip(parts, given).allSatisfy { $0.first == "{" || $0 == $1 }
        }
        return matching.min { $0.path.count(where: { $0 == "{" }) < $1.path.count(where: { $0 == "{" }) }
    }

    /// Says how a reply differs from the document; empty if it does not.
    func problems(of reply: HTTPReply, to operation: Operation) -> [String] {
        guard let described = checker.followed(operation.description["responses"]?["\(reply.status)"]) else {
            return ["status \(reply.status) is not described: \(reply.text)"]
        }
        var problems: [String] = []
        for name in (described["headers"]?.object ?? [:]).keys where reply.headers[name.lowercased()] == nil {
            problems.append("the header field \(name) is missing")
        }
        guard let contents = described["content"]?.object else {
            return reply.body.isEmpty ? problems : problems + ["a body is not described"]
        }
        let type = reply.headers["content-type"] ?? ""
        guard let content = contents[type] else { return problems + ["the type \(type) is not described"] }
        guard type.hasSuffix("json"), let schema = content["schema"] else { return problems }
        do {
            return problems + checker.problems(of: try JSONValue(reply.body), schema)
        } catch {
            return problems + ["the body is not JSON: \(reply.text)"]
        }
    }
}
