import DarkroomText

/// Parses a command line with the definitions of one command. The parser continues after an error, so that all errors
/// are shown together.
struct ArgumentParser {
    /// The command line contains a request for help. The other arguments are ignored.
    struct HelpRequest: Error {}

    private let definitions: [ArgumentDefinition]
    private var given: Set<String> = []
    private var problems: [String] = []
    /// The option whose value is the word before the current word; nil if that word is no value of an option.
    private var optionBefore: String?

    /// A value without an option.
    private struct PositionalValue {
        let text: String
        /// The option whose value is directly before this value.
        let optionBefore: String?
    }

    init(_ definitions: [ArgumentDefinition]) { self.definitions = definitions }

    /// Parses and stores all values.
    ///
    /// - Returns: The problems found.
    mutating func parse(
        _ arguments: [String], environment: [String: String]
    ) throws(HelpRequest) -> [String] {
        var rest = arguments[...]
        var values: [PositionalValue] = []
        while let word = rest.popFirst() {
            let before = optionBefore
            optionBefore = nil
            if word == "--" {
                values += rest.map { PositionalValue(text: $0, optionBefore: nil) }
                break
            } else if word.hasPrefix("--") {
                try parseLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try parseShort(word, &rest)
            } else {
                values.append(PositionalValue(text: word, optionBefore: before))
            }
        }
        place(values)
        fillIn(from: environment)
        return problems
    }

    /// Parses `--name`, `--name value` or `--name=value`.
    private mutating func parseLong(_ word: String, _ rest: inout ArraySlice<String>) throws(HelpRequest) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        if name == "help" { throw HelpRequest() }
        guard let definition = named({ $0.longName == name }) else {
            problems.append(unknown("--\(name)"))
            return
        }
        if definition.kind == .option {
            takeValue(attached, &rest, of: definition, as: "--\(name)")
        } else if let attached {
            problems.append("--\(name) takes no value (found \"\(attached)\")")
        } else {
            store("", in: definition, from: "--\(name)")
        }
    }

    /// Parses `-o value`, `-ovalue`, `-o=value`, or several flags in one word.
    private mutating func parseShort(_ word: String, _ rest: inout ArraySlice<String>) throws(HelpRequest) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            if letter == "h" { throw HelpRequest() }
            guard let definition = named({ $0.shortName == letter }) else {
                problems.append(unknown(letters.isEmpty ? "-\(letter)" : word))
                return
            }
            if definition.kind == .option {
                let attached = letters.first == "=" ? letters.dropFirst() : letters
                takeValue(letters.isEmpty ? nil : String(attached), &rest, of: definition, as: "-\(letter)")
                return
            }
            store("", in: definition, from: "-\(letter)")
        }
    }

    /// Stores the value of an option: the attached value, or the next word unless the next word is an option.
    private mutating func takeValue(
        _ attached: String?, _ rest: inout ArraySlice<String>, of definition: ArgumentDefinition, as name: String
    ) {
        optionBefore = name
        if let attached {
            store(attached, in: definition, from: name)
        } else if let next = rest.first, isValue(next) {
            rest.removeFirst()
            store(next, in: definition, from: name)
        } else {
            given.insert(definition.longName)
            problems.append("\(name) needs a value: \(name) <\(definition.valueName)>")
        }
    }

    /// Whether the word is a value. A single dash and negative numbers are values.
    private func isValue(_ word: String) -> Bool {
        !word.hasPrefix("-") || word == "-" || Double(word) != nil
    }

    private func named(_ matches: (ArgumentDefinition) -> Bool) -> ArgumentDefinition? {
        definitions.first { $0.kind != .positional && matches($0) }
    }

    private func unknown(_ option: String) -> String {
        let names = definitions.filter { $0.kind != .positional }.map(\.displayName)
        let meant = NearMiss.find(option, in: names).map { "; did you mean \($0)?" } ?? ""
        return "unknown option \(option)\(meant)"
    }

    /// Assigns the values to the positional arguments in order.
    private mutating func place(_ values: [PositionalValue]) {
        var rest = values[...]
        for definition in definitions where definition.kind == .positional {
            repeat {
                guard let value = rest.popFirst() else { break }
                store(value.text, in: definition, from: definition.displayName)
            } while definition.isRepeating
        }
        if let extra = rest.first {
            let advice = extra.optionBefore.map {
                "; if it is part of the value of \($0), put the whole value in quotes"
            }
            problems.append("unexpected argument \"\(extra.text)\"\(advice ?? "")")
        }
    }

    private mutating func fillIn(from environment: [String: String]) {
        for definition in definitions where !given.contains(definition.longName) {
            if let variable = definition.environment, let value = environment[variable], !value.isEmpty {
                store(value, in: definition, from: variable)
            } else if definition.isRequired {
                problems.append("missing \(definition.usage)")
            }
        }
    }

    private mutating func store(_ value: String, in definition: ArgumentDefinition, from source: String) {
        given.insert(definition.longName)
        do {
            try definition.store(value)
        } catch {
            problems.append("\(source) \"\(value)\": \(error)")
        }
    }
}
