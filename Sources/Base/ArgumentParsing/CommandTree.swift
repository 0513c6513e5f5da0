import DarkroomText

/// The commands of a program. Finds the command that is named in a command line, and parses the arguments of this
/// command.
struct CommandTree {
    let root: any ParsableCommand.Type

    /// Returns the command with all its values.
    ///
    /// - Throws: ``CommandExit`` for help, version or usage errors.
    func parse(_ arguments: [String], environment: [String: String]) throws(CommandExit) -> any ParsableCommand {
        var rest = arguments[...]
        var path = [root]
        if !root.configuration.subcommands.isEmpty { rest = Self.withoutHelpWord(rest) }
        while let type = path.last, !type.configuration.subcommands.isEmpty {
            path.append(try subcommand(&rest, below: path))
        }
        return try parse(Array(rest), environment: environment, path: path)
    }

    /// Moves a request for help to the position after the command: `help run all` and `--help run all` become
    /// `run --help all`.
    private static func withoutHelpWord(_ arguments: ArraySlice<String>) -> ArraySlice<String> {
        guard let first = arguments.first, ["help", "--help", "-h"].contains(first) else { return arguments }
        var words = arguments.dropFirst().filter { !$0.hasPrefix("-") }
        let isComplete = words.last == HelpScreen.wordForAll
        if isComplete { words.removeLast() }
        return words + ["--help"] + (isComplete ? [HelpScreen.wordForAll] : [])
    }

    /// Parses the name of a subcommand.
    private func subcommand(
        _ rest: inout ArraySlice<String>, below path: [any ParsableCommand.Type]
    ) throws(CommandExit) -> any ParsableCommand.Type {
        let help = HelpScreen(path: path)
        let configuration = help.configuration
        guard let word = rest.popFirst() else { throw CommandExit(missingCommand: help.text) }
        if word == "--help" || word == "-h" {
            throw CommandExit(answer: rest.first == HelpScreen.wordForAll ? help.completeText : help.text)
        }
        if ["--version", "-V", "-v", "version"].contains(word), let version = configuration.version {
            throw CommandExit(answer: "\(help.commandName) \(version)\n")
        }
        guard !word.hasPrefix("-") else {
            throw help.usageError(["the command comes before its options (found \"\(word)\")"])
        }
        guard let found = configuration.subcommands.first(where: { $0.configuration.name == word }) else {
            let shown = configuration.displayedSubcommands
            let same = shown.filter { $0.synonyms.contains(word.lowercased()) }.map(\.name)
            let advice = same.isEmpty ? help.type.advice(onUnknownCommand: word, arguments: Array(rest)) : nil
            let meant = same.isEmpty ? NearMiss.find(word, in: shown.map(\.name)).map { [$0] } ?? [] : same
            let question = meant.isEmpty ? nil : "did you mean \(ChoiceText.joined(meant))?"
            throw help.usageError(["unknown command \"\(word)\"" + ((advice ?? question).map { "; \($0)" } ?? "")])
        }
        return found
    }

    /// Parses the arguments of the last command of `path`.
    private func parse(
        _ arguments: [String], environment: [String: String], path: [any ParsableCommand.Type]
    ) throws(CommandExit) -> any ParsableCommand {
        let help = HelpScreen(path: path)
        let command = help.type.init()
        let definitions = command.sections().flatMap(\.definitions)
        if arguments.prefix(while: { $0 != "--" }).contains("--version"), let version = root.configuration.version,
            !definitions.contains(where: { $0.longName == "version" })
        {
            throw CommandExit(answer: "\(root.configuration.name) \(version)\n")
        }
        var parser = ArgumentParser(
            definitions, advice: advice(for: command, path.dropLast().last))
        var problems: [String]
        do {
            problems = try parser.parse(arguments, environment: environment)
        } catch {
            throw CommandExit(answer: error.isComplete ? help.completeText : help.text)
        }
        if problems.isEmpty {
            for group in command.withGroups() {
                do {
                    try group.validate()
                } catch {
                    // Several groups may check the same value and report the same error.
                    if !problems.contains("\(error)") { problems.append("\(error)") }
                }
            }
        }
        guard problems.isEmpty else { throw help.usageError(problems) }
        return command
    }

    /// - Parameter parent: The command that has this command as a subcommand; nil if the command is the program.
    private func advice(
        for command: any ParsableCommand, _ parent: (any ParsableCommand.Type)?
    ) -> ArgumentParser.Advice {
        var advice = ArgumentParser.Advice()
        advice.onUnknownOption = { name, value in
            command.withGroups().lazy.compactMap { $0.advice(onUnknownOption: name, value: value) }.first
        }
        advice.onTooManyValues = { type(of: command).advice(onTooManyValues: $0, options: $1) }
        if let parent { advice.onOptionOfOthers = { Self.commands(of: parent, withOption: $0) } }
        return advice
    }

    /// The text that names the commands with this option: `it is an option of run or worker`. Nil if no command or more
    /// than four commands have the option.
    private static func commands(of parent: any ParsableCommand.Type, withOption name: String) -> String? {
        var commands: [String] = []
        var options: [String] = []
        for type in parent.configuration.subcommands where type.configuration.shouldDisplay {
            let definitions = type.init().sections().flatMap(\.definitions).filter { $0.kind != .positional }
            let same = definitions.filter { $0.longName == name }
            for option in same.isEmpty ? definitions.filter({ $0.synonyms.contains(name) }) : same {
                if commands.last != type.configuration.name { commands.append(type.configuration.name) }
                if !options.contains(option.displayName) { options.append(option.displayName) }
            }
        }
        guard (1...4).contains(commands.count), options.count <= 3 else { return nil }
        let names = ChoiceText.joined(commands)
        if options == ["--\(name)"] { return "it is an option of \(names)" }
        return "use \(ChoiceText.joined(options)) of \(names)"
    }
}
