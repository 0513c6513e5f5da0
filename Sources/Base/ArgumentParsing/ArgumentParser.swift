import DarkroomText

/// Parses a command line with the definitions of one command. The parser continues after an error, so that all errors
/// are shown together.
struct ArgumentParser {
    /// Thrown if the command line contains a request for help. The other arguments are ignored.
    struct HelpRequest: Error {
        /// Whether the help must list all options, as for `--help all`.
        let isComplete: Bool
    }

    /// Advice that the command and the program give about mistakes.
    struct Advice {
        /// For an option that the command does not have: the name of this option without dashes, and the next word.
        var onUnknownOption: (_ name: String, _ value: String?) -> OptionAdvice? = { _, _ in nil }
        /// For an option that only other commands have. Called only if no other advice was found.
        var onOptionOfOthers: (_ name: String) -> String? = { _ in nil }
        /// For more values than the command has arguments: all values, and the given options with their values.
        var onTooManyValues: (_ values: [String], _ options: [String]) -> String? = { _, _ in nil }
    }

    private let definitions: [ArgumentDefinition]
    private let advice: Advice
    private var given: Set<String> = []
    private var problems: [String] = []
    /// The option whose value is the previous word; nil if the previous word is not the value of an option.
    private var optionBefore: String?

    /// A value without an option.
    private struct PositionalValue {
        let text: String
        /// The option whose value is directly before this value.
        let optionBefore: String?
    }

    init(_ definitions: [ArgumentDefinition], advice: Advice = Advice()) {
        self.definitions = definitions
        self.advice = advice
    }

    /// Parses and stores all values.
    ///
    /// - Returns: The problems found.
    mutating func parse(
        _ arguments: [String], environment: [String: String]
    ) throws(HelpRequest) -> [String] {
        var rest = arguments[...]
        var values: [PositionalValue] = []
        var options: [String] = []
        while let word = rest.popFirst() {
            let before = optionBefore
            optionBefore = nil
            let start = rest.startIndex
            if word == "--" {
                values += rest.map { PositionalValue(text: $0, optionBefore: nil) }
                break
            } else if word.hasPrefix("--") {
                try parseLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try parseShort(word, &rest)
            } else {
                values.append(PositionalValue(text: word, optionBefore: before))
                continue
            }
            options += [word] + arguments[start..<rest.startIndex]
        }
        place(values, options: options)
        fillIn(from: environment)
        return problems
    }

    /// Parses `--name`, `--name value` or `--name=value`.
    private mutating func parseLong(_ word: String, _ rest: inout ArraySlice<String>) throws(HelpRequest) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        if name == "help" { throw HelpRequest(isComplete: (attached ?? rest.first) == HelpScreen.wordForAll) }
        guard let definition = named({ $0.longName == name }) else {
            refuse("--\(name)", name, attached, &rest)
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
            if letter == "h" { throw HelpRequest(isComplete: rest.first == HelpScreen.wordForAll) }
            guard let definition = named({ $0.shortName == letter }) else {
                refuseShort(word, letter, letters, &rest)
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

    /// Reports a word with one dash that is not an option: `-r`, `-r5`, or a long name as in `-resize=5`.
    private mutating func refuseShort(
        _ word: String, _ letter: Character, _ letters: Substring, _ rest: inout ArraySlice<String>
    ) {
        if letters.isEmpty { return refuse("-\(letter)", String(letter), nil, &rest) }
        if let next = letters.first, !next.isLetter {
            return refuse(word, String(letter), String(next == "=" ? letters.dropFirst() : letters), &rest)
        }
        let parts = word.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        refuse(word, String(parts[0]), parts.count == 2 ? String(parts[1]) : nil, &rest)
    }

    /// Stores the value of an option: the attached value, or the next word. Does not store a word that is an option.
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

    /// Reports an option that the command does not have, and suggests the option that the user may have meant.
    private mutating func refuse(
        _ shown: String, _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>
    ) {
        let next = attached == nil ? rest.first.flatMap { isValue($0) ? $0 : nil } : nil
        if let advice = advice.onUnknownOption(name, attached ?? next) {
            problems.append("unknown option \(shown); \(advice.text)")
            // Without the removal, the parser would report the value as an unexpected argument.
            if next != nil, advice.usesValue { rest.removeFirst() }
            return
        }
        let options = definitions.filter { $0.kind != .positional }
        var meant = options.filter { $0.synonyms.contains(name) }
        if meant.isEmpty, name.count == 1 {
            // `-j` may stand for the flag `--json`; `-j 8` cannot, because a flag has no value.
            let isNumber = (attached ?? next).map { Double($0) != nil } ?? false
            let begun = options.filter { $0.longName.hasPrefix(name) && (!isNumber || $0.kind == .option) }
            if begun.count <= 2 { meant = begun }
        }
        if meant.isEmpty, name.count > 1 {
            let near = NearMiss.find("--\(name)", in: options.map(\.displayName))
            meant = options.filter { $0.displayName == near }
        }
        if !meant.isEmpty {
            let names = ChoiceText.joined(meant.map(\.displayName))
            problems.append("unknown option \(shown); did you mean \(names)?")
            if next != nil, meant.contains(where: { $0.kind == .option }) { rest.removeFirst() }
        } else {
            problems.append("unknown option \(shown)" + (advice.onOptionOfOthers(name).map { "; \($0)" } ?? ""))
        }
    }

    /// Assigns the values to the positional arguments in order.
    private mutating func place(_ values: [PositionalValue], options: [String]) {
        var rest = values[...]
        for definition in definitions where definition.kind == .positional {
            repeat {
                guard let value = rest.popFirst() else { break }
                store(value.text, in: definition, from: definition.displayName)
            } while definition.isRepeating
        }
        if let extra = rest.first {
            let ofOption = extra.optionBefore.map {
                "if it is part of the value of \($0), put the whole value in quotes"
            }
            let text = advice.onTooManyValues(values.map(\.text), options) ?? ofOption
            problems.append("unexpected argument \"\(extra.text)\"" + (text.map { "; \($0)" } ?? ""))
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

/// A list of choices in a sentence.
enum ChoiceText {
    /// `a`, `a or b`, `a, b or c`.
    static func joined(_ choices: [String]) -> String {
        guard choices.count > 1 else { return choices.first ?? "" }
        return choices.dropLast().joined(separator: ", ") + " or " + choices[choices.count - 1]
    }
}
