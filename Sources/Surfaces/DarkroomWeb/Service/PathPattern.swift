/// A path in which names in braces stand for components: `/api/v1/batches/{batch}/photos/{index}`.
struct PathPattern: Sendable {
    private enum Component: Sendable {
        case fixed(String)
        case variable(String)
    }

    let text: String
    private let components: [Component]

    init(_ text: String) {
        self.text = text
        components = text.split(separator: "/").map { part in
            part.first == "{" ? .variable(String(part.dropFirst().dropLast())) : .fixed(String(part))
        }
    }

    /// The variable components of a path by name; nil if the path does not match.
    func match(_ path: some Collection<String>) -> [String: String]? {
        guard path.count == components.count else { return nil }
        var values: [String: String] = [:]
        for (component, given) in zip(components, path) {
            switch component {
            case .fixed(let text): if text != given { return nil }
            case .variable(let name): values[name] = given
            }
        }
        return values
    }
}
