/// The arguments of a command in its usage line.
enum UsageLine {
    /// Positional arguments, required options, and `[options]` for all other options.
    static func words(_ definitions: [ArgumentDefinition]) -> [String] {
        let positional = definitions.filter { $0.kind == .positional }.map { definition in
            let name = text(of: definition) + (definition.isRepeating ? "..." : "")
            return definition.isRequired ? name : "[\(name)]"
        }
        let required = definitions.filter { $0.kind == .option && $0.isRequired }.map(text)
        return positional + required + ["[options]"]
    }

    /// An argument with its value: `<list>`, `--output <folder>`.
    static func text(of definition: ArgumentDefinition) -> String {
        definition.kind == .option ? "\(definition.displayName) <\(definition.valueName)>" : definition.displayName
    }
}
