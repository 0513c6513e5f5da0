/// What a command is called and what its help says.
package struct CommandConfiguration: Sendable {
    /// The word that names the command.
    package var name: String
    /// What the command does, in one sentence.
    package var abstract: String
    /// What else a user should know; paragraphs are separated by an empty line.
    package var discussion: String
    /// The heading under which the parent's help lists the command.
    package var group: String
    /// Names that users may try for the command. They do not work; the error suggests the command.
    package var synonyms: [String]
    /// Command lines that work, shown at the end of the help.
    package var examples: [String]
    /// The program's version, printed by `--version`; only the root has one.
    package var version: String?
    /// Whether the parent's help lists the command; `false` for helper processes.
    package var shouldDisplay: Bool
    /// The commands below this one. A command with subcommands has no arguments of its own.
    package var subcommands: [any ParsableCommand.Type]

    /// Creates a configuration.
    package init(
        name: String, abstract: String, discussion: String = "", group: String = "Commands", synonyms: [String] = [],
        examples: [String] = [], version: String? = nil, shouldDisplay: Bool = true,
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.group = group
        self.synonyms = synonyms
        self.examples = examples
        self.version = version
        self.shouldDisplay = shouldDisplay
        self.subcommands = subcommands
    }

    /// The subcommands' configurations that help and suggestions show.
    var displayedSubcommands: [CommandConfiguration] {
        subcommands.map { $0.configuration }.filter(\.shouldDisplay)
    }
}
