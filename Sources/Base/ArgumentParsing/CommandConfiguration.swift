/// The name and the help of a command.
package struct CommandConfiguration: Sendable {
    /// The name of the command on the command line.
    package var name: String
    /// One sentence that says what the command does.
    package var abstract: String
    /// Further information for users; paragraphs are separated by an empty line.
    package var discussion: String
    /// The heading under which the help of the parent lists the command.
    package var group: String
    /// Other names that users may try. If a user enters such a name, the error suggests this command.
    package var synonyms: [String]
    /// Example command lines, shown at the end of the help.
    package var examples: [String]
    /// The names of the options that `--help` lists if the complete help does not fit on a screen. The names have no
    /// dashes, and `--help` keeps their order. `--help all` lists all options.
    package var mainOptions: [String]
    /// The version of the program, printed by `--version`; only for the root command.
    package var version: String?
    /// Whether the parent's help lists the command; `false` for the commands of helper processes.
    package var shouldDisplay: Bool
    /// The subcommands. A command with subcommands has no arguments.
    package var subcommands: [any ParsableCommand.Type]

    package init(
        name: String, abstract: String, discussion: String = "", group: String = "Commands", synonyms: [String] = [],
        examples: [String] = [], mainOptions: [String] = [], version: String? = nil, shouldDisplay: Bool = true,
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.group = group
        self.synonyms = synonyms
        self.examples = examples
        self.mainOptions = mainOptions
        self.version = version
        self.shouldDisplay = shouldDisplay
        self.subcommands = subcommands
    }

    /// The configurations of the subcommands that appear in help and suggestions.
    var displayedSubcommands: [CommandConfiguration] {
        subcommands.map { $0.configuration }.filter(\.shouldDisplay)
    }
}
