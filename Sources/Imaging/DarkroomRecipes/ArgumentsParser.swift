/// Parses the arguments of one filter, and checks them against the definition of the filter.
struct ArgumentsParser {
    private(set) var scanner: TextScanner
    private let kind: Filter.Kind
    private let definition: FilterDefinition
    private let nameRange: Range<Int>
    private var values: [String: ParameterValue] = [:]
    private var ranges: [String: Range<Int>] = [:]
    private var positionalCount = 0

    /// The scanner must be at the end of the name.
    init(_ kind: Filter.Kind, _ nameRange: Range<Int>, _ scanner: TextScanner) {
        self.kind = kind
        definition = kind.definition
        self.nameRange = nameRange
        self.scanner = scanner
    }

    mutating func filter() throws(ChainSyntaxError) -> Filter {
        if scanner.take("=") {
            repeat { try argument() } while scanner.take(",")
        }
        for parameter in definition.parameters {
            if case .required = parameter.need, values[parameter.name] == nil {
                throw error(whole, "\(parameter.name) is missing; write it like \(definition.example)")
            }
            if case .numbers(let numbers) = values[parameter.name], !parameter.counts.contains(numbers.count) {
                throw error(whole, "\(parameter.name): \(numbers.count) numbers; write \(parameter.kind.form)")
            }
        }
        if let violation = definition.rule(GivenArguments(values: values)) {
            throw error(violation.parameter.flatMap { ranges[$0] } ?? whole, violation.problem)
        }
        return Filter(kind, given: values)
    }

    private var whole: Range<Int> { nameRange.lowerBound..<scanner.position }

    private func error(_ range: Range<Int>, _ problem: String) -> ChainSyntaxError {
        scanner.error(range, filter: definition.name, problem)
    }

    // MARK: - One argument

    private mutating func argument() throws(ChainSyntaxError) {
        let start = scanner.position
        let label = scanner.skip(to: "=,;:\"")
        let parameter: FilterParameter?
        if scanner.next == ":", let named = definition.parameter(scanner.text(label)) {
            _ = scanner.take(":")
            parameter = named
        } else {
            // Only the name of a parameter begins with a letter and ends with a colon.
            if scanner.next == ":", scanner.text(label).first?.isLetter == true {
                throw error(label, unknown(scanner.text(label)))
            }
            scanner.move(to: start)
            parameter = nil
        }
        let value = try value()
        let range = start..<scanner.position
        guard !value.range.isEmpty else {
            let isSpace = !scanner.isAtEnd && scanner.next != "," && scanner.next != "="
            throw error(range, isSpace ? "a space within the arguments; remove it" : "an empty argument; write a value")
        }
        if scanner.next == "=" {
            let sign = scanner.position..<scanner.position + 1
            throw error(
                sign, "a \"=\" within a value; put the value in quotes, or write a space before the next filter")
        }
        if parameter == nil, let flag = definition.parameter(value.text), flag.kind == .flag {
            return try set(flag, .flag(true), range)
        }
        let known = if let parameter { parameter } else { try nextPositional(value.text, range) }
        try set(known, try parsed(value.text, value.range, known), range)
    }

    private mutating func value() throws(ChainSyntaxError) -> (text: String, range: Range<Int>) {
        do throws(ChainSyntaxError) {
            return try scanner.value(upTo: "=,;")
        } catch {
            throw self.error(error.offset..<error.offset + error.length, error.problem)
        }
    }

    private func parsed(
        _ text: String, _ range: Range<Int>, _ parameter: FilterParameter
    ) throws(ChainSyntaxError) -> ParameterValue {
        do throws(InvalidParameterValue) {
            return try parameter.kind.parse(text, of: parameter.name)
        } catch {
            throw self.error(range, error.problem)
        }
    }

    private mutating func set(
        _ parameter: FilterParameter, _ value: ParameterValue, _ range: Range<Int>
    ) throws(ChainSyntaxError) {
        if case .numbers(let new) = value, case .numbers(let old) = values[parameter.name] {
            // Checked here, too, so that a long text does not take quadratic time.
            guard old.count <= parameter.counts.last ?? 0 else {
                throw error(range, "\(parameter.name): too many numbers; write \(parameter.kind.form)")
            }
            values[parameter.name] = .numbers(old + new)
        } else {
            guard values[parameter.name] == nil else { throw error(range, "\(parameter.name) is given twice") }
            values[parameter.name] = value
        }
        ranges[parameter.name] = range
    }

    /// The next parameter that takes a value without a name.
    private mutating func nextPositional(_ text: String, _ range: Range<Int>) throws(ChainSyntaxError)
        -> FilterParameter
    {
        let positional = definition.parameters.filter(\.isPositional)
        guard definition.parameter(text) == nil else {
            throw error(range, "\(text) has no value; write \(text):VALUE")
        }
        guard positionalCount < positional.count else { throw error(range, tooMany(text, positional.count)) }
        let parameter = positional[positionalCount]
        if parameter.counts.isEmpty { positionalCount += 1 }
        return parameter
    }

    // MARK: - Messages

    private func unknown(_ label: String) -> String {
        "there is no parameter \(QuotedText.inMessage(label)); \(advice(label))"
    }

    private func tooMany(_ text: String, _ count: Int) -> String {
        if definition.parameters.isEmpty { return "\(definition.name) has no parameters" }
        let counted = count == 0 ? "no value" : count == 1 ? "only one value" : "only \(count) values"
        return "\(counted) can be written without a name; \(advice(text))"
    }

    private func advice(_ word: String) -> String {
        let names = definition.parameters.map(\.name)
        if let suggestion = Suggestion.text(word, names) { return suggestion }
        switch names.count {
        case 0: return "\(definition.name) has no parameters"
        case 1: return "the parameter is \(names[0])"
        default: return "the parameters are " + names.joined(separator: ", ")
        }
    }
}
