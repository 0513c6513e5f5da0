/// A parameter of a filter.
package struct FilterParameter: Sendable {
    package enum Need: Sendable {
        case required
        /// The filter has a documented behaviour if the parameter is absent.
        case optional
        case standard(ParameterValue)
    }

    package let name: String
    package let kind: ValueKind
    package let need: Need
    /// Whether the value can be written without the name of the parameter. Such values follow the order of the
    /// parameters.
    package let isPositional: Bool
    /// One sentence.
    package let summary: String

    init(_ name: String, _ kind: ValueKind, _ need: Need, positional: Bool = false, _ summary: String) {
        self.name = name
        self.kind = kind
        self.need = need
        self.isPositional = positional
        self.summary = summary
    }

    /// The default of the parameter; nil if there is none.
    package var standard: ParameterValue? {
        if case .standard(let value) = need { value } else { nil }
    }

    /// The accepted lengths of a list, in ascending order. A list takes all following arguments without a name.
    var counts: [Int] {
        if case .numbers(let counts, _) = kind { counts } else { [] }
    }
}
