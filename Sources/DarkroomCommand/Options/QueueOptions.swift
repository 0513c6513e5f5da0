import ArgumentParsing
import Darkroom

/// How long a finished batch is remembered.
enum Retention: ExpressibleByArgument {
    case duration(Duration)
    case forever

    init(argument: String) throws {
        if argument == "forever" {
            self = .forever
        } else {
            do {
                self = .duration(try Duration(argument: argument))
            } catch {
                throw InvalidValue("\(error), or \"forever\"")
            }
        }
    }

    var argumentText: String {
        switch self {
        case .duration(let duration): duration.argumentText
        case .forever: "forever"
        }
    }

    /// The duration; nil for ever.
    var duration: Duration? {
        if case .duration(let duration) = self { duration } else { nil }
    }
}

/// How a batch stands in the queue.
struct QueueOptions: ParsableArguments {
    @Option(help: "What the batch is called.", valueName: "name") var name: String?
    @Option(help: "Photos an operation, 1 to 1000.", valueName: "count") var operationSize: Int = 50
    @Option(help: "How long a worker may be silent before others take its work.", valueName: "duration")
    var lease: Duration = .seconds(15)
    @Option(help: "The most operations that wait in Redis or run.", valueName: "count") var window: Quantity = 10_000
    @Option(help: "How long it is remembered after it finished, or \"forever\".", valueName: "duration")
    var retain: Retention = .duration(.seconds(24 * 3600))

    func validate() throws {
        guard (1...1000).contains(operationSize) else {
            throw ValidationError("--operation-size \(operationSize): from 1 to 1000")
        }
        guard lease >= .seconds(6) else {
            throw ValidationError("--lease \(lease.argumentText): at least 6s, so that two heartbeats may get lost")
        }
        try requireAtLeast(1, window.value, "--window")
    }

    /// Puts these into what a batch asks for.
    func apply(to options: inout BatchOptions) {
        options.name = name ?? ""
        options.operationSize = operationSize
        options.lease = lease
        options.window = window.value
        options.retain = retain.duration
    }
}
