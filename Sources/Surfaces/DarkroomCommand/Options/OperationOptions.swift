import ArgumentParsing
import Darkroom
import DarkroomWorker

/// `NAME=COMMAND`: a command and the name of its custom operation.
struct OperationArgument: ExpressibleByArgument {
    let name: String
    let command: String

    init(argument: String) throws {
        guard let sign = argument.firstIndex(of: "=") else {
            throw InvalidValue(
                "write NAME='COMMAND', such as small='convert png:- -resize 800x800 jpg:-' with --operation-input png")
        }
        name = String(argument[..<sign])
        command = String(argument[argument.index(after: sign)...])
    }

    var argumentText: String { "\(name)=\(command)" }
}

extension CommandOperation.Style: ExpressibleByArgument {}
extension CommandOperation.Input: ExpressibleByArgument {}

/// Options for custom operations that are commands.
struct OperationOptions: ParsableArguments {
    @Option(
        help: """
            A custom operation for --filter x:NAME: the command gets a photo on standard input, and prints the result. \
            Repeatable.
            """,
        valueName: "name=command")
    var operation: [OperationArgument]
    @Option(
        help: "A process for each photo, or a kept process for a stream of photos.", valueName: "style")
    var operationStyle: CommandOperation.Style = .process
    @Option(
        help: "What a command gets: the bytes of the previous step, or always a PNG file.",
        valueName: "input")
    var operationInput: CommandOperation.Input = .bytes
    @Option(help: "The address space of each process of a command.", valueName: "size")
    var operationMemory = ByteSize(bytes: CommandLimits().memory)
    @Option(
        help: """
            The longest time of a command for a photo. The limit of its processor time is --photo-timeout; the size of a \
            photo does not change it.
            """,
        valueName: "duration")
    var operationTimeout: Duration = CommandLimits().time

    func validate() throws {
        try require(WorkerBounds.commandMemory, operationMemory, "--operation-memory")
        try require(WorkerBounds.photoTimeouts, operationTimeout, "--operation-timeout")
        var names: Set<String> = []
        for operation in operation {
            guard names.insert(operation.name).inserted else {
                throw ValidationError("--operation \(operation.name)=...: the name was given before")
            }
            do {
                _ = try CommandOperation(operation.name, command: operation.command)
            } catch {
                throw ValidationError("--operation \(operation.argumentText): \(error)")
            }
        }
    }

    /// Registers the commands. The photo timeout of the configuration must be set before.
    func apply(to configuration: inout WorkerConfiguration) throws {
        var limits = CommandLimits()
        limits.memory = operationMemory.bytes
        limits.time = operationTimeout
        limits.processorTime = configuration.photoTimeout
        for operation in operation {
            configuration.register(
                try CommandOperation(
                    operation.name, command: operation.command, style: operationStyle, input: operationInput,
                    limits: limits))
        }
    }

    /// Whether a command is given for the custom operation of this name.
    func has(_ name: String) -> Bool { operation.contains { $0.name == name } }
}
