import ArgumentParsing

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
    @Option(help: "Quality.") var intensity: Double?
    @Option(help: "How long a silent worker keeps an operation.", valueName: "duration")
    var lease: Duration = .seconds(15)
    @Option(help: "The largest download.", valueName: "size") var maxDownload: ByteSize = .mebibytes(64)
    @Option(help: "The largest picture.", valueName: "count") var maxPixels: Quantity = 100_000_000
    @Flag(name: .shortAndLong, help: "Wait until it is finished.") var wait: Bool
    @Flag(name: .customLong("json", short: "j"), help: "Print JSON.") var printsJSON: Bool
    @OptionGroup(title: "Connection options") var connection: ConnectionOptions

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
}

/// Parses a command line. If the command line is invalid or asks for help, returns the exit status and the output.
func outcome(of arguments: [String], environment: [String: String] = [:]) -> CommandExit? {
    do {
        _ = try Root.parseAsRoot(arguments, environment: environment)
        return nil
    } catch {
        return error
    }
}
