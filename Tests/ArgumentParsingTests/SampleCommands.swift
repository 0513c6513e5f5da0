import ArgumentParsing
import DarkroomText

enum Priority: String, CaseIterable, ExpressibleByArgument {
    case veryLow, low, normal, high, veryHigh
}

struct ConnectionOptions: ParsableArguments {
    @Option(help: "The Redis server.", valueName: "url", environment: "DARKROOM_REDIS")
    var redis: String = "redis://127.0.0.1:6379"
    @Option(help: "The prefix of all keys.") var namespace: String = "darkroom"

    func validate() throws {
        if namespace.contains("/") { throw ValidationError("--namespace \"\(namespace)\": no slash, please") }
    }
}

struct Submit: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "submit", abstract: "Split a photo list into operations and feed them.", group: "Coordinator",
        synonyms: ["begin"],
        examples: ["darkroom submit photos.csv -o developed"])

    @Argument(help: "The photo list; - is standard input.") var list: String
    @Option(name: .shortAndLong, help: "The folder for the photos.", valueName: "folder") var output: String
    @Option(help: "Wait for a batch.", valueName: "batch") var after: [String]
    @Option(help: "How urgent it is.") var priority: Priority = .normal
    @Option(help: "Photos an operation.", valueName: "count") var operationSize: Int = 50
    @Option(help: "Quality.", synonyms: ["q", "strength"]) var intensity: Double?
    @Option(help: "How long a silent worker keeps an operation.", valueName: "duration")
    var lease: Duration = .seconds(15)
    @Option(help: "The largest download.", valueName: "size") var maxDownload: ByteSize = .mebibytes(64)
    @Option(help: "The largest picture.", valueName: "count") var maxPixels: Quantity = 100_000_000
    @Flag(name: .shortAndLong, help: "Wait until it is finished.") var wait: Bool
    @Flag(name: .customLong("json", short: "j"), help: "Print JSON.") var printsJSON: Bool
    @OptionGroup(title: "Connection options") var connection: ConnectionOptions

    func advice(onUnknownOption name: String, value: String?) -> OptionAdvice? {
        name == "sepia" ? OptionAdvice("use --filter sepia=\(value ?? "")", usesValue: true) : nil
    }

    static func advice(onTooManyValues values: [String], options: [String]) -> String? {
        values.contains("photo") ? "try bench develop \((values + options).joined(separator: " "))" : nil
    }

    func validate() throws {
        if operationSize < 1 { throw ValidationError("--operation-size \(operationSize): at least 1") }
    }
}

struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "cancel", abstract: "Cancel batches.", group: "Coordinator", synonyms: ["stop"],
        examples: ["darkroom cancel holidays"])

    @Argument(help: "The batches.") var batch: [String]
    @Argument(help: "Not reached.") var more: String?

    func run() throws { throw ExitCode(4) }
}

struct Worker: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "worker", abstract: "Develop what is queued.", group: "Worker", synonyms: ["begin"],
        examples: ["darkroom worker"])
}

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "watch", abstract: "Show bars, rates, the time that is left and the workers while the batches run.",
        group: "Monitor", examples: ["darkroom watch"])

    @Argument(help: "A batch.") var batch: String?
}

struct BenchDevelop: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "develop", abstract: "Measure.", examples: ["darkroom bench develop photos"])

    @Argument(help: "Photos.", valueName: "folder") var photos: String
}

struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "bench", abstract: "Measure the system.", group: "Monitor", subcommands: [BenchDevelop.self])
}

struct Helper: ParsableCommand {
    static let configuration = CommandConfiguration(name: "helper", abstract: "Hidden.", shouldDisplay: false)
}

struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "darkroom", abstract: "Develop photo lists on a cluster.",
        examples: ["darkroom submit photos.csv -o developed"], version: "1.2.3",
        subcommands: [Submit.self, Cancel.self, Worker.self, Watch.self, Bench.self, Helper.self])

    static func advice(onUnknownCommand word: String, arguments: [String]) -> String? {
        word == "sepia" ? "it is a filter (\(arguments.joined(separator: " ")))" : nil
    }
}

/// A command whose complete help does not fit on a screen.
struct Long: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "long", abstract: "Has many options.", discussion: "The description.", examples: ["long --first"],
        mainOptions: ["second", "first"])

    @Flag(help: "Does one thing.") var first: Bool
    @Option(
        name: .customLong("second", short: "b"), help: "Does another thing. It is long. By default 3.")
    var second: Int = 3
    @Flag(help: "An option.") var option1: Bool
    @Flag(help: "An option.") var option2: Bool
    @Flag(help: "An option.") var option3: Bool
    @Flag(help: "An option.") var option4: Bool
    @Flag(help: "An option.") var option5: Bool
    @Flag(help: "An option.") var option6: Bool
    @Flag(help: "An option.") var option7: Bool
    @Flag(help: "An option.") var option8: Bool
    @Flag(help: "An option.") var option9: Bool
    @Flag(help: "An option.") var option10: Bool
    @Flag(help: "An option.") var option11: Bool
    @Flag(help: "An option.") var option12: Bool
    @Flag(help: "An option.") var option13: Bool
    @Flag(help: "An option.") var option14: Bool
    @Flag(help: "An option.") var option15: Bool
    @Flag(help: "An option.") var option16: Bool
    @Flag(help: "An option.") var option17: Bool
    @Flag(help: "An option.") var option18: Bool
    @Flag(help: "An option.") var option19: Bool
    @Flag(help: "An option.") var option20: Bool
    @Flag(help: "An option.") var option21: Bool
    @Flag(help: "An option.") var option22: Bool
    @Flag(help: "An option.") var option23: Bool
    @Flag(help: "An option.") var option24: Bool
    @Flag(help: "An option.") var option25: Bool
    @Flag(help: "An option.") var option26: Bool
    @Flag(help: "An option.") var option27: Bool
    @Flag(help: "An option.") var option28: Bool
    @Flag(help: "An option.") var option29: Bool
    @Flag(help: "An option.") var option30: Bool
    @Flag(help: "An option.") var option31: Bool
    @Flag(help: "An option.") var option32: Bool
    @Flag(help: "An option.") var option33: Bool
    @Flag(help: "An option.") var option34: Bool
    @Flag(help: "An option.") var option35: Bool
    @Flag(help: "An option.") var option36: Bool
    @Flag(help: "An option.") var option37: Bool
    @Flag(help: "An option.") var option38: Bool
    @Flag(help: "An option.") var option39: Bool
    @Flag(help: "An option.") var option40: Bool
}

/// Parses a command line. If the command line is invalid or asks for help, returns the exit status and the output.
func outcome(
    of root: any ParsableCommand.Type, _ arguments: [String], environment: [String: String] = [:]
) -> CommandExit? {
    do {
        _ = try root.parseAsRoot(arguments, environment: environment)
        return nil
    } catch {
        return error
    }
}

/// Like the function above, for the program ``Root``.
func outcome(of arguments: [String], environment: [String: String] = [:]) -> CommandExit? {
    outcome(of: Root.self, arguments, environment: environment)
}
