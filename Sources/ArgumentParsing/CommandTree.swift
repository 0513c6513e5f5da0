import DarkroomText

/// The commands of a program. Finds the command that a command line names, and parses its arguments.
struct CommandTree {
    let root: any ParsableCommand.Type

    /// Returns the command with all its values.
    ///
    /// - Throws: ``CommandExit`` for help, version or usage errors.
    func parse(_ arguments: [String], environment: [String: String]) throws(CommandExit) -> any ParsableCommand {
        var rest = arguments[...]
        var path = [root]
        if rest.first == "help", !root.configuration.subcommands.isEmpty {
            rest.removeFirst()
            rest = rest.filter { !$0.hasPrefix("-") } + ["--help"]
        }
        while let type = path.last, !type.configuration.subcommands.isEmpty {
            path.append(try subcommand(&rest, below: path))
        }
        return try parse(Array(rest), environment: environment, path: path)
    }

    /// Parses the name of a subcommand.
    private func subcommand(
        _ rest: inout ArraySlice<String>, below path: [any ParsableCommand.Type]
    ) throws(CommandExit) -> any ParsableCommand.Type {
        let help = HelpScreen(path: path)
        let configuration = help.configuration
        guard let word = rest.popFirst() else { throw CommandExit(missingCommand: help.text) }
        if word == "--help" || word == "-h" { throw CommandExit(answer: help.text) }
        if word == "--version", let version = configuration.version {
            throw CommandExit(answer: "\(help.commandName) \(version)\n")
        }
        guard !word.hasPrefix("-") else {
            throw help.usageError(["the command comes before its options (found \"\(word)\")"])
        }
        guard let found = configuration.subcommands.first(where: { $0.configuration.name == word }) else {
            let shown = configuration.displayedSubcommands
            let same = shown.filter { $0.synonyms.contains(word.lowercased()) }.map(\.name)
            let meant = same.isEmpty ? NearMiss.find(word, in: shown.map(\.name)).map { [$0] } ?? [] : same
            let others = meant.dropLast().joined(separator: ", ")
            let hint = meant.last.map { "; did you mean \(others.isEmpty ? $0 : "\(others) or \($0)")?" } ?? ""
            throw help.usageError(["unknown command \"\(word)\"\(hint)"])
        }
        return found
    }

    /// Parses the arguments of the last command of `path`.
    private func parse(
        _ arguments: [String], environment: [String: String], path: [any ParsableCommand.Type]
    ) throws(CommandExit) -> any ParsableCommand {
        let help = HelpScreen(path: path)
        let command = help.type.init()
        var parser = ArgumentParser(command.sections().flatMap(\.definitions))
        var problems: [String]
        do {
            problems = try parser.parse(arguments, environment: environment)
        } catch {
            throw CommandExit(answer: help.text)
        }
        if problems.isEmpty {
            for group in command.withGroups() {
                do {
                    try group.validate()
                } catch {
                    // Several groups may need the same wrong value.
                    if !problems.contains("\(error)") { problems.append("\(error)") }
                }
            }
        }
        guard problems.isEmpty else { throw help.usageError(problems) }
        return command
    }
}
