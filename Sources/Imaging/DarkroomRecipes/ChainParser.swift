/// Parses the steps of a filter chain, up to the end of the text or a semicolon.
struct ChainParser {
    private(set) var scanner: TextScanner

    init(_ scanner: TextScanner) { self.scanner = scanner }

    mutating func chain() throws(ChainSyntaxError) -> FilterChain {
        try scanner.refuseControlCharacters()
        var steps: [ChainStep] = []
        var none: Range<Int>?
        scanner.skipSpace()
        let start = scanner.position
        while !scanner.isAtEnd, scanner.next != ";" {
            let name = scanner.skip(to: "=;")
            if scanner.text(name) == "none", scanner.next != "=" {
                none = name
            } else {
                guard steps.count < FilterChain.maxSteps else {
                    throw scanner.error(name, "more than \(FilterChain.maxSteps) filters; leave some out")
                }
                steps.append(try step(name))
            }
            if let none, none.lowerBound > start || !steps.isEmpty {
                throw scanner.error(none, "none stands alone; leave it or the other filters out")
            }
            scanner.skipSpace()
        }
        let range = start..<scanner.position
        guard !range.isEmpty else { throw scanner.error(range, "no filter; write none for an empty chain") }
        let chain = FilterChain(steps)
        // The canonical text may be longer than the given one, and must be accepted as well.
        guard max(scanner.text(range).utf8.count, chain.description.utf8.count) <= FilterChain.maxBytes else {
            throw scanner.error(range, "longer than \(FilterChain.maxBytes) bytes; leave some filters out")
        }
        return chain
    }

    private mutating func step(_ nameRange: Range<Int>) throws(ChainSyntaxError) -> ChainStep {
        let name = scanner.text(nameRange)
        if name.hasPrefix(CustomStep.prefix) { return .custom(try customStep(nameRange)) }
        if name.isEmpty {
            let sign = nameRange.lowerBound..<nameRange.lowerBound + 1
            throw scanner.error(sign, "no filter name before \"=\"; write NAME=ARGUMENT,... without spaces")
        }
        guard let kind = Filter.Kind(rawValue: name) else {
            throw scanner.error(nameRange, unknown(name))
        }
        var parser = ArgumentsParser(kind, nameRange, scanner)
        let filter = try parser.filter()
        scanner.move(to: parser.scanner.position)
        return .filter(filter)
    }

    private mutating func customStep(_ nameRange: Range<Int>) throws(ChainSyntaxError) -> CustomStep {
        let name = String(scanner.text(nameRange).dropFirst(CustomStep.prefix.count))
        guard CustomStep.isName(name) else {
            throw scanner.error(
                nameRange, "a custom filter is x: and a name of 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        guard scanner.take("=") else { return CustomStep(name: name) }
        let arguments = try scanner.value(upTo: ";")
        guard !arguments.range.isEmpty else {
            throw scanner.error(arguments.range, "no arguments after \"=\"; write x:\(name) or x:\(name)=ARGUMENTS")
        }
        guard CustomStep.areArguments(arguments.text) else {
            throw scanner.error(
                arguments.range, "arguments of a custom filter are at most \(CustomStep.maxArgumentBytes) bytes long"
            )
        }
        return CustomStep(name: name, arguments: arguments.text)
    }

    private func unknown(_ name: String) -> String {
        if name == "none" { return "none has no arguments" }
        if name.contains(",") { return "a \",\" between filters; separate filters by spaces" }
        if EncodingSetting(rawValue: name) != nil {
            return
                "\(name) is an encoding setting; write it after a \";\" in a rendition, or give it as a setting of all files"
        }
        let names = Filter.Kind.allCases.map(\.rawValue)
        let advice = Suggestion.text(name, names) ?? "the filters are " + names.joined(separator: ", ")
        return "there is no filter \(QuotedText.inMessage(name)); \(advice)"
    }
}
