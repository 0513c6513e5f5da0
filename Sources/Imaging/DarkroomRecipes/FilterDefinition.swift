/// The parameters of a filter and their rules.
package struct FilterDefinition: Sendable {
    package enum Group: String, Sendable, CaseIterable {
        case colour, geometry, texture
    }

    package let name: String
    package let group: Group
    /// One sentence.
    package let summary: String
    package let parameters: [FilterParameter]
    /// A filter chain that uses the filter.
    package let example: String
    /// Checks the parameters against each other.
    let rule: @Sendable (GivenArguments) -> RuleViolation?

    init(
        _ kind: Filter.Kind, _ group: Group, _ summary: String, example: String, _ parameters: [FilterParameter] = [],
        rule: @escaping @Sendable (GivenArguments) -> RuleViolation? = { _ in nil }
    ) {
        name = kind.rawValue
        self.group = group
        self.summary = summary
        self.example = example
        self.parameters = parameters
        self.rule = rule
    }

    func parameter(_ name: String) -> FilterParameter? { parameters.first { $0.name == name } }
}
