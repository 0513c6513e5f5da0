import ArgumentParsing
import Darkroom
import DarkroomRecipes
import DarkroomText

/// `darkroom filters`: lists the filters, or describes one with its parameters. Needs no Redis.
struct FiltersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "filters", abstract: "List the filters, or describe a filter and its parameters.",
        discussion: """
            In a filter chain, a filter is written as NAME or NAME=ARGUMENT,... with an argument for each parameter. \
            An argument is VALUE or PARAMETER:VALUE. Values with spaces, commas or other special characters are \
            written in double quotes.

            none is the empty chain: the photo is only converted. x:NAME and x:NAME=ARGUMENTS are custom filters of \
            the workers (worker and run, --custom-filter).
            """,
        group: "This machine", synonyms: ["effects"],
        examples: ["darkroom filters", "darkroom filters resize"])

    @Argument(help: "The filter to describe.") var name: Filter.Kind?
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup var tableOptions: TableOptions

    func validate() throws { try tableOptions.require(isTable: !json && name == nil) }

    func run() throws {
        let output = StandardOutput()
        if let definition = name?.definition {
            if json { return try output.document(JSON(definition)) }
            try write(definition, to: output)
        } else {
            let definitions = Filter.Kind.allCases.map(\.definition)
            if json { return try output.document(.array(definitions.map { JSON($0) })) }
            try write(definitions, to: output)
        }
    }

    private func write(_ definitions: [FilterDefinition], to output: StandardOutput) throws {
        var table = Table(
            [Table.Column("group", rank: 1), "filter", "example", "summary"], tableOptions, to: output)
        for group in FilterDefinition.Group.allCases {
            for filter in definitions where filter.group == group {
                try table.add([group.rawValue, filter.name, filter.example, filter.summary].map(Cell.text))
            }
        }
        try table.finish()
    }

    private func write(_ definition: FilterDefinition, to output: StandardOutput) throws {
        var facts = FactSheet()
        facts.add("filter", definition.name)
        facts.add("group", definition.group.rawValue)
        facts.add("summary", definition.summary)
        facts.add("example", definition.example)
        for parameter in definition.parameters {
            facts.add("parameter", parameter.name)
            facts.add("  summary", parameter.summary)
            facts.add("  value", parameter.kind.form)
            if let unit = parameter.kind.unitSymbol { facts.add("  unit", unit) }
            switch parameter.need {
            case .required: facts.add("  default", "none; the parameter is required")
            case .optional: facts.add("  default", "none")
            case .standard(let value): facts.add("  default", value.description)
            }
            facts.add("  written as", parameter.writtenForm)
        }
        try facts.write(to: output)
    }
}

extension Filter.Kind: ExpressibleByArgument {}

extension FilterParameter {
    fileprivate var writtenForm: String {
        if kind == .flag { return "\(name) or \(name):no" }
        return isPositional ? "VALUE or \(name):VALUE" : "\(name):VALUE"
    }
}

extension JSON {
    fileprivate init(_ definition: FilterDefinition) {
        self = [
            "name": .string(definition.name), "group": .string(definition.group.rawValue),
            "summary": .string(definition.summary), "example": .string(definition.example),
            "parameters": .array(definition.parameters.map { JSON($0) }),
        ]
    }

    fileprivate init(_ parameter: FilterParameter) {
        var isRequired: Bool { if case .required = parameter.need { true } else { false } }
        self = [
            "name": .string(parameter.name), "summary": .string(parameter.summary),
            "value": .string(parameter.kind.form), "unit": JSON(parameter.kind.unitSymbol),
            "default": JSON(parameter.standard?.description), "required": .bool(isRequired),
            "positional": .bool(parameter.isPositional),
        ]
    }
}
