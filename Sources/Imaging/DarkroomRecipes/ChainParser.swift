/// Parses a filter chain, up to the end of the text or a semicolon.
struct ChainParser {
    private(set) var scanner: TextScanner

    init(_ scanner: TextScanner) { self.scanner = scanner }

    mutating func filters() throws(ChainSyntaxError) -> [PhotoFilter] {
        try scanner.refuseControlCharacters()
        var filters: [PhotoFilter] = []
        var none: Range<Int>?
        scanner.skipSpace()
        let start = scanner.position
        while !scanner.isAtEnd, scanner.next != ";" {
            let name = scanner.skip(to: "=;")
            if scanner.text(name) == "none", scanner.next != "=" {
                none = name
            } else {
                guard filters.count < PhotoFilter.maxCount else {
                    throw scanner.error(name, "more than \(PhotoFilter.maxCount) filters; leave some out")
                }
                filters.append(try filter(name))
            }
            if let none, none.lowerBound > start || !filters.isEmpty {
                throw scanner.error(none, "none stands alone; leave it or the other filters out")
            }
            scanner.skipSpace()
        }
        let range = start..<scanner.position
        guard !range.isEmpty else { throw scanner.error(range, "no filter; write none for an empty chain") }
        // The canonical text may be longer than the given one, and must be accepted as well.
        guard max(scanner.text(range).utf8.count, filters.text.utf8.count) <= PhotoFilter.maxBytes else {
            throw scanner.error(range, "longer than \(PhotoFilter.maxBytes) bytes; leave some filters out")
        }
        return filters
    }

    private mutating func filter(_ nameRange: Range<Int>) throws(ChainSyntaxError) -> PhotoFilter {
        let name = scanner.text(nameRange)
        if name.hasPrefix(PhotoFilter.Custom.prefix) { return PhotoFilter(try custom(nameRange)) }
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
        return PhotoFilter(filter)
    }

    private mutating func custom(_ nameRange: Range<Int>) throws(ChainSyntaxError) -> PhotoFilter.Custom {
        let name = String(scanner.text(nameRange).dropFirst(PhotoFilter.Custom.prefix.count))
        guard PhotoFilter.Custom.isName(name) else {
            throw scanner.error(
                nameRange, "a custom filter is x: and a name of 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        guard scanner.take("=") else { return PhotoFilter.Custom(name: name) }
        let arguments = try scanner.value(upTo: ";")
        guard !arguments.range.isEmpty else {
            throw scanner.error(arguments.range, "no arguments after \"=\"; write x:\(name) or x:\(name)=ARGUMENTS")
        }
        guard PhotoFilter.Custom.areArguments(arguments.text) else {
            throw scanner.error(
                arguments.range,
                "arguments of a custom filter are at most \(PhotoFilter.Custom.maxArgumentBytes) bytes long"
            )
        }
        return PhotoFilter.Custom(name: name, arguments: arguments.text)
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
