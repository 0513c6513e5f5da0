/// The help of a command, 80 columns wide.
struct HelpScreen {
    /// The types of the parent commands and of the command, the root first.
    let path: [any ParsableCommand.Type]

    /// The word after `--help` that asks for all options.
    static let wordForAll = "all"
    /// The maximum number of lines of the help without ``wordForAll``.
    private static let screenLines = 45
    private static let width = 80
    private static let column = 26

    var type: any ParsableCommand.Type { path[path.count - 1] }
    var configuration: CommandConfiguration { type.configuration }
    /// The full name of the command, with its parents.
    var commandName: String { path.map { $0.configuration.name }.joined(separator: " ") }

    /// The complete help if it fits on a screen, otherwise its most important parts.
    var text: String {
        let complete = completeText
        return complete.count { $0 == "\n" } <= Self.screenLines ? complete : shortText
    }

    /// The help with all options and the whole description.
    var completeText: String {
        var paragraphs = [wrapped(configuration.abstract), usage]
        if !configuration.discussion.isEmpty { paragraphs.append(discussion) }
        paragraphs += configuration.subcommands.isEmpty ? arguments : commands
        paragraphs += examples
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// The help with the main options only. For a command with subcommands: the help with all subcommands, but without
    /// the description.
    private var shortText: String {
        let rest = "'\(commandName) --help \(Self.wordForAll)' shows "
        if !configuration.subcommands.isEmpty {
            let paragraphs = [wrapped(configuration.abstract), usage] + commands + examples
            return paragraphs.joined(separator: "\n\n") + "\n\n" + wrapped(rest + "more.") + "\n"
        }
        let definitions = type.init().sections().flatMap(\.definitions)
        let options = definitions.filter { $0.kind != .positional }
        let shown = configuration.mainOptions.compactMap { name in options.first { $0.longName == name } }
        let positional = definitions.filter { $0.kind == .positional }.map { row($0.displayName, details($0)) }
        var paragraphs = [wrapped(configuration.abstract), usage]
        if !positional.isEmpty { paragraphs.append(section("Arguments", positional)) }
        let rows = shown.map { row(names($0), details($0, isShort: true)) }
        paragraphs.append(section("Main options", rows + [row("-h, --help", "Show this help.")]))
        paragraphs += examples
        return paragraphs.joined(separator: "\n\n") + "\n\n" + wrapped(rest + "all \(options.count) options.") + "\n"
    }

    /// A usage error of this command.
    func usageError(_ problems: [String]) -> CommandExit {
        CommandExit(problems: problems, usage: usage, helpCommand: "\(commandName) --help")
    }

    private var usage: String {
        let words = configuration.subcommands.isEmpty ? usageWords : ["<command>", "[options]"]
        return filled(words, first: "Usage: \(commandName)", indent: 7 + commandName.count)
    }

    /// The positional arguments, the required options, and the word `[options]` for all other options.
    private var usageWords: [String] {
        let definitions = type.init().sections().flatMap(\.definitions)
        let positional = definitions.filter { $0.kind == .positional }.map { definition in
            let name = definition.usage + (definition.isRepeating ? "..." : "")
            return definition.isRequired ? name : "[\(name)]"
        }
        let required = definitions.filter { $0.kind == .option && $0.isRequired }.map(\.usage)
        return positional + required + ["[options]"]
    }

    private var discussion: String {
        configuration.discussion.split(separator: "\n\n").map { wrapped(String($0)) }.joined(separator: "\n\n")
    }

    private var commands: [String] {
        let shown = configuration.displayedSubcommands
        var groups: [String] = []
        for command in shown where !groups.contains(command.group) {
            groups.append(command.group)
        }
        let column = 2 + 2 + max(shown.map(\.name.count).max() ?? 0, "-V, --version".count)
        var options = [row("-h, --help", "Show this help, or with a command its help.", column)]
        if configuration.version != nil { options.append(row("-V, --version", "Show the version.", column)) }
        return groups.map { group in
            section(group, shown.filter { $0.group == group }.map { row($0.name, $0.abstract, column) })
        } + [section("Options", options)]
    }

    private var arguments: [String] {
        var titles: [String] = []
        var rows: [String: [String]] = [:]
        func add(_ title: String, _ lines: [String]) {
            guard !lines.isEmpty else { return }
            if rows[title] == nil { titles.append(title) }
            rows[title, default: []] += lines
        }
        let sections = type.init().sections()
        let positional = sections.flatMap(\.definitions).filter { $0.kind == .positional }
        add("Arguments", positional.map { row($0.displayName, details($0)) })
        for section in sections {
            let options = section.definitions.filter { $0.kind != .positional }
            add(section.title, options.map { row(names($0), details($0)) })
        }
        add("Options", [row("-h, --help", "Show this help.")])
        return titles.map { section($0, rows[$0] ?? []) }
    }

    private var examples: [String] {
        guard !configuration.examples.isEmpty else { return [] }
        return [
            section(
                configuration.examples.count == 1 ? "Example" : "Examples", configuration.examples.map { "  \($0)" })
        ]
    }

    private func names(_ definition: ArgumentDefinition) -> String {
        let short = definition.shortName.map { "-\($0), " } ?? ""
        let value = definition.kind == .option ? " <\(definition.valueName)>" : ""
        return short + definition.displayName + value
    }

    /// - Parameter isShort: Whether the result is only the first sentence of the help and a sentence about the default.
    private func details(_ definition: ArgumentDefinition, isShort: Bool = false) -> String {
        var text = definition.help
        if isShort {
            let sentences = text.split(separator: ". ", omittingEmptySubsequences: false)
            let shown = sentences.enumerated().filter { $0.offset == 0 || $0.element.hasPrefix("By default") }
            text = shown.map(\.element).joined(separator: ". ")
            if !text.hasSuffix(".") { text += "." }
        }
        var notes: [String] = []
        let allowed = definition.allowedTexts
        if !allowed.isEmpty { notes.append("one of " + allowed.joined(separator: ", ")) }
        if let value = definition.defaultText, !value.isEmpty { notes.append("default: \(value)") }
        if let variable = definition.environment { notes.append("or by \(variable)") }
        if definition.isRepeating, definition.kind == .option, !isShort { notes.append("may be repeated") }
        if !notes.isEmpty { text += " (\(notes.joined(separator: "; ")))" }
        return text
    }

    private func section(_ title: String, _ lines: [String]) -> String {
        ([title + ":"] + lines).joined(separator: "\n")
    }

    /// A row of the help: a name and its description, which starts on the next line if the name is long.
    private func row(_ name: String, _ text: String, _ column: Int = Self.column) -> String {
        let margin = String(repeating: " ", count: column)
        let words = text.split(separator: " ").map(String.init)
        let start = "  " + name
        guard start.count + 2 <= column else {
            return start + "\n" + filled(words, first: String(margin.dropLast()), indent: column - 1)
        }
        let padded = start + String(repeating: " ", count: column - 1 - start.count)
        return filled(words, first: padded, indent: column - 1)
    }

    private func wrapped(_ text: String) -> String {
        let words = text.split { $0 == " " || $0 == "\n" }.map(String.init)
        return filled(Array(words.dropFirst()), first: words.first ?? "", indent: -1)
    }

    /// Arranges the words in lines of at most 80 columns. All lines after the first are indented.
    private func filled(_ words: [String], first: String, indent: Int) -> String {
        var lines = [first]
        for word in words {
            if lines[lines.count - 1].count + 1 + word.count > Self.width {
                lines.append(String(repeating: " ", count: indent + 1) + word)
            } else {
                lines[lines.count - 1] += " " + word
            }
        }
        return lines.joined(separator: "\n")
    }
}
