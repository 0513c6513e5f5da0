/// The help of a command, 80 columns wide.
struct HelpScreen {
    /// The types of the parent commands and of the command, the root first.
    let path: [any ParsableCommand.Type]

    private static let width = 80
    private static let column = 26

    var type: any ParsableCommand.Type { path[path.count - 1] }
    var configuration: CommandConfiguration { type.configuration }
    /// The full name of the command, with its parents.
    var commandName: String { path.map { $0.configuration.name }.joined(separator: " ") }

    var text: String {
        var paragraphs = [wrapped(configuration.abstract), usage]
        if !configuration.discussion.isEmpty { paragraphs.append(discussion) }
        paragraphs += configuration.subcommands.isEmpty ? arguments : commands
        paragraphs += examples
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// A usage error of this command.
    func usageError(_ problems: [String]) -> CommandExit {
        CommandExit(problems: problems, usage: usage, helpCommand: "\(commandName) --help")
    }

    private var usage: String {
        let words = configuration.subcommands.isEmpty ? usageWords : ["<command>", "[options]"]
        return filled(words, first: "Usage: \(commandName)", indent: 7 + commandName.count)
    }

    /// Positional arguments, required options, and `[options]` for all other options.
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
        var options = [row("-h, --help", "Show this help or the help of a command.")]
        if configuration.version != nil { options.append(row("--version", "Show the version.")) }
        return groups.map { group in
            section(group, shown.filter { $0.group == group }.map { row($0.name, $0.abstract) })
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

    private func details(_ definition: ArgumentDefinition) -> String {
        var text = definition.help
        var notes: [String] = []
        let allowed = definition.allowedTexts
        if !allowed.isEmpty { notes.append("one of " + allowed.joined(separator: ", ")) }
        if let value = definition.defaultText, !value.isEmpty { notes.append("default: \(value)") }
        if let variable = definition.environment { notes.append("or by \(variable)") }
        if definition.isRepeating, definition.kind == .option { notes.append("may be repeated") }
        if !notes.isEmpty { text += " (\(notes.joined(separator: "; ")))" }
        return text
    }

    private func section(_ title: String, _ lines: [String]) -> String {
        ([title + ":"] + lines).joined(separator: "\n")
    }

    /// A row of the help: a name and its description, which starts on the next line if the name is long.
    private func row(_ name: String, _ text: String) -> String {
        let margin = String(repeating: " ", count: Self.column)
        let words = text.split(separator: " ").map(String.init)
        let start = "  " + name
        guard start.count + 2 <= Self.column else {
            return start + "\n" + filled(words, first: String(margin.dropLast()), indent: Self.column - 1)
        }
        let padded = start + String(repeating: " ", count: Self.column - 1 - start.count)
        return filled(words, first: padded, indent: Self.column - 1)
    }

    private func wrapped(_ text: String) -> String {
        let words = text.split { $0 == " " || $0 == "\n" }.map(String.init)
        return filled(Array(words.dropFirst()), first: words.first ?? "", indent: -1)
    }

    /// The words in lines of at most 80 columns. All lines after the first are indented.
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
