/// Checks JSON values against the schemas of an OpenAPI document: the part of JSON Schema 2020-12 that the document uses.
///
/// It is stricter than JSON Schema: an object whose schema has properties must have no others, and a keyword that this
/// checker does not know is an error.
struct SchemaChecker: Sendable {
    let document: JSONValue

    /// Says what is wrong with a value; empty if it is valid.
    func problems(of value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
        var problems: [String] = []
        let known = check(value, schema, place, &problems)
        if let members = value.object, let known {
            for name in members.keys.sorted() where !known.contains(name) {
                problems.append("\(place).\(name) is not described")
            }
        }
        return problems
    }

    /// The value at a reference such as `#/components/schemas/Batch`.
    func resolve(_ reference: String) -> JSONValue? {
        reference.split(separator: "/").dropFirst().reduce(document) { value, name in value?[String(name)] }
    }

    /// A schema or another object, after its `$ref` was followed.
    func followed(_ value: JSONValue?) -> JSONValue? {
        guard let reference = value?["$ref"]?.string else { return value }
        return followed(resolve(reference))
    }

    private static let annotations: Set = [
        "description", "examples", "example", "default", "contentMediaType", "title",
    ]

    /// Returns the names of the members that the schema describes; nil if it describes none, so that all are allowed.
    private func check(
        _ value: JSONValue, _ schema: JSONValue, _ place: String, _ problems: inout [String]
    ) -> Set<String>? {
        guard let keywords = schema.object else {
            problems.append("\(place): the schema is no object")
            return nil
        }
        var known: Set<String>?
        for (keyword, argument) in keywords where !Self.annotations.contains(keyword) {
            switch keyword {
            case "$ref":
                guard let target = resolve(argument.string ?? "") else {
                    problems.append("\(place): no \(argument)")
                    continue
                }
                add(check(value, target, place, &problems), to: &known)
            case "allOf":
                for part in argument.array ?? [] { add(check(value, part, place, &problems), to: &known) }
            case "oneOf":
                let failures = (argument.array ?? []).map { self.problems(of: value, $0, at: place) }
                let valid = failures.count { $0.isEmpty }
                if valid != 1 {
                    problems.append("\(place): \(valid) alternatives fit: \(failures.joined().joined(separator: ", "))")
                }
                add(value.object.map { Set($0.keys) }, to: &known)
            case "properties":
                add(Set((argument.object ?? [:]).keys), to: &known)
                for (name, part) in argument.object ?? [:] {
                    if let member = value[name] { problems += self.problems(of: member, part, at: "\(place).\(name)") }
                }
            case "additionalProperties":
                let own = Set((keywords["properties"]?.object ?? [:]).keys)
                for (name, member) in value.object ?? [:] where !own.contains(name) {
                    if argument == .bool(false) {
                        problems.append("\(place).\(name) is not allowed")
                    } else {
                        problems += self.problems(of: member, argument, at: "\(place).\(name)")
                        add([name], to: &known)
                    }
                }
            case "propertyNames":
                for name in (value.object ?? [:]).keys {
                    problems += self.problems(of: .string(name), argument, at: "\(place).\(name)")
                }
            case "items":
                for (position, item) in (value.array ?? []).enumerated() {
                    problems += self.problems(of: item, argument, at: "\(place)[\(position)]")
                }
            default:
                if let problem = simpleProblem(value, keyword, argument) { problems.append("\(place): \(problem)") }
            }
        }
        return known
    }

    private func add(_ names: Set<String>?, to known: inout Set<String>?) {
        if let names { known = (known ?? []).union(names) }
    }

    /// The keywords about a single value.
    private func simpleProblem(_ value: JSONValue, _ keyword: String, _ argument: JSONValue) -> String? {
        switch keyword {
        case "type":
            let types = argument.string.map { [$0] } ?? argument.strings
            return types.contains { Self.isOfType(value, $0) } ? nil : "\(value) has another type than \(types)"
        case "enum": return (argument.array ?? []).contains(value) ? nil : "\(value) is not in the list"
        case "required":
            guard let members = value.object else { return nil }
            let missing = argument.strings.filter { members[$0] == nil }
            return missing.isEmpty ? nil : "\(missing) are missing"
        case "minimum", "maximum":
            guard let number = Self.number(value), let bound = Self.number(argument) else { return nil }
            let isAllowed = keyword == "minimum" ? number >= bound : number <= bound
            return isAllowed ? nil : "\(number) is outside the bound \(bound)"
        case "pattern": return Self.matches(value, argument.string ?? "")
        case "format":
            guard argument == .string("date-time") else { return "unknown format \(argument)" }
            return Self.matches(value, #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"#)
        default: return "the checker does not know the keyword \(keyword)"
        }
    }

    private static func matches(_ value: JSONValue, _ pattern: String) -> String? {
        guard let text = value.string else { return nil }
        guard let expression = try? Regex(pattern) else { return "\(pattern) is no expression" }
        return text.firstMatch(of: expression) == nil ? "\"\(text)\" does not match \(pattern)" : nil
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    private static func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch (value, type) {
        case (.null, "null"), (.bool, "boolean"), (.int, "integer"), (.int, "number"), (.number, "number"),
            (.string, "string"), (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }
}
