import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomWorker

/// `NAME=COMMAND`: a command and the name of its custom filter.
struct CustomFilterArgument: ExpressibleByArgument {
    let name: String
    let command: String

    init(argument: String) throws {
        guard let sign = argument.firstIndex(of: "=") else {
            throw InvalidValue(
                "write NAME='COMMAND', such as small='convert png:- -resize 800x800 jpg:-' with --custom-filter-input png"
            )
        }
        name = String(argument[..<sign])
        command = String(argument[argument.index(after: sign)...])
    }

    var argumentText: String { "\(name)=\(command)" }
}

extension FilterCommand.Style: ExpressibleByArgument {}
extension FilterCommand.Input: ExpressibleByArgument {}

/// Options for custom filters that are commands.
struct CustomFilterOptions: WorkerOptions {
    @Option(
        help: """
            A custom filter for --filter x:NAME: the command gets a photo on standard input, and prints the result. \
            Repeatable.
            """,
        valueName: "name=command", synonyms: ["operation", "custom-operation", "command"])
    var customFilter: [CustomFilterArgument]
    @Option(
        help: "A process for each photo, or a kept process for a stream of photos.", valueName: "style",
        synonyms: ["operation-style"])
    var customFilterStyle: FilterCommand.Style = .process
    @Option(
        help: "What a command gets: the bytes of the previous step, or always a PNG file.",
        valueName: "input", synonyms: ["operation-input"])
    var customFilterInput: FilterCommand.Input = .bytes
    @Option(help: "The address space of each process of a command.", valueName: "size", synonyms: ["operation-memory"])
    var customFilterMemory = ByteSize(bytes: CommandLimits().memory)
    @Option(
        help: """
            The longest time of a command for a photo. The limit of its processor time is --photo-timeout; the size of a \
            photo does not change it.
            """,
        valueName: "duration", synonyms: ["operation-timeout"])
    var customFilterTimeout: Duration = CommandLimits().time

    /// Adds the commands to a configuration whose photo timeout is already set.
    func fill(_ configuration: inout PhotoWorkerConfiguration) throws {
        configuration.commandLimits.memory = customFilterMemory.bytes
        configuration.commandLimits.time = customFilterTimeout
        configuration.commandLimits.processorTime = configuration.photoTimeout
        var names: Set<String> = []
        for filter in customFilter {
            guard names.insert(filter.name).inserted else {
                throw ValidationError("--custom-filter \(filter.name)=...: the name was given before")
            }
            do throws(InvalidCommand) {
                configuration.addFilter(
                    try FilterCommand(
                        filter.name, command: filter.command, style: customFilterStyle, input: customFilterInput,
                        limits: configuration.commandLimits))
            } catch {
                throw ValidationError("--custom-filter \(filter.argumentText): \(error)")
            }
        }
    }

    /// Whether the options contain a command for the custom filter of this name.
    func has(_ name: String) -> Bool { customFilter.contains { $0.name == name } }
}
