/// Parses one rendition, up to the end of the text.
struct RenditionParser {
    private var scanner: TextScanner
    /// The position of the name.
    private(set) var name = 0..<0

    init(_ scanner: TextScanner) { self.scanner = scanner }

    mutating func rendition() throws(ChainSyntaxError) -> PhotoRendition {
        scanner.skipSpace()
        name = scanner.skip(to: "=;")
        if let problem = PhotoRendition.problem(ofName: scanner.text(name)) { throw scanner.error(name, problem) }
        try takeEqualSign("no \"=\" after the name; write NAME = FILTERS")

        let filters = try filters()
        var settings = PhotoEncoding()
        while scanner.take(";") { try setting(of: &settings) }
        return PhotoRendition(scanner.text(name), filters: filters, encoding: settings)
    }

    private mutating func filters() throws(ChainSyntaxError) -> [PhotoFilter] {
        var parser = ChainParser(scanner)
        do throws(ChainSyntaxError) {
            let filters = try parser.filters()
            scanner = parser.scanner
            return filters
        } catch {
            guard let filter = Filter.Kind(rawValue: scanner.text(name)) else { throw error }
            let range = error.offset..<error.offset + error.length
            let advice = "\(filter.rawValue) is the name of a filter; write NAME = \(filter.rawValue)=..."
            throw scanner.error(range, filter: error.filter, "\(error.problem); \(advice)")
        }
    }

    /// Parses settings that are separated by semicolons. An empty text contains no settings.
    mutating func settings() throws(ChainSyntaxError) -> PhotoEncoding {
        var settings = PhotoEncoding()
        scanner.skipSpace()
        guard !scanner.isAtEnd else { return settings }
        repeat { try setting(of: &settings) } while scanner.take(";")
        return settings
    }

    private mutating func setting(of settings: inout PhotoEncoding) throws(ChainSyntaxError) {
        scanner.skipSpace()
        let key = scanner.skip(to: "=;")
        let name = scanner.text(key)
        guard !key.isEmpty else { throw scanner.error(key, "no setting after \";\"; write SETTING=VALUE") }
        guard let setting = EncodingSetting(rawValue: name) else {
            let names = EncodingSetting.allCases.map(\.rawValue)
            let advice = Suggestion.text(name, names) ?? "the settings are " + names.joined(separator: ", ")
            throw scanner.error(key, "there is no setting \(QuotedText.inMessage(name)); \(advice)")
        }
        guard settings.text(of: setting) == nil else { throw scanner.error(key, "\(name) is given twice") }

        scanner.skipSpace()
        var value = (text: "yes", range: key)
        if setting.valueName != nil || scanner.next == "=" {
            try takeEqualSign("\(name) has no value; write \(name)=VALUE")
            value = try scanner.value(upTo: ";")
            guard !value.range.isEmpty else { throw scanner.error(value.range, "\(name) has no value") }
        }
        do throws(InvalidParameterValue) {
            try settings.set(setting, to: value.text)
        } catch {
            throw scanner.error(value.range, error.problem)
        }

        scanner.skipSpace()
        guard scanner.isAtEnd || scanner.next == ";" else {
            throw scanner.error(scanner.skip(to: ";"), "text after a setting; write \";\" between settings")
        }
    }

    private mutating func takeEqualSign(_ problem: String) throws(ChainSyntaxError) {
        scanner.skipSpace()
        guard scanner.take("=") else { throw scanner.error(scanner.position..<scanner.position, problem) }
        scanner.skipSpace()
    }
}
