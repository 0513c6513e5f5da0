/// The arguments in the text of a filter, excluding defaults.
struct GivenArguments {
    let values: [String: ParameterValue]

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The violation if both parameters are given.
    func exclusive(_ first: String, _ second: String) -> RuleViolation? {
        has(first) && has(second)
            ? RuleViolation(second, "\(second) excludes \(first); leave one of them out") : nil
    }
}

/// Parameters of a filter that contradict each other.
struct RuleViolation {
    /// The parameter at which the error points; nil for the whole filter.
    let parameter: String?
    let problem: String

    init(_ parameter: String?, _ problem: String) {
        self.parameter = parameter
        self.problem = problem
    }
}
