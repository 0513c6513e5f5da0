import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomWorker
import Foundation

/// A group of options for settings of a worker. ``PhotoWorkerConfiguration`` has the defaults and bounds of the
/// settings.
protocol WorkerOptions: ParsableArguments {
    /// Copies the values of these options to the settings.
    func fill(_ configuration: inout PhotoWorkerConfiguration) throws
}

extension WorkerOptions {
    func validate() throws { try PhotoWorkerConfiguration([self]).requireValid() }
}

extension PhotoWorkerConfiguration {
    init(_ options: [any WorkerOptions]) throws {
        self.init()
        for group in options { try group.fill(&self) }
    }

    /// - Throws: ``ValidationError``, which names the option of the first setting that is not allowed.
    func requireValid() throws(ValidationError) {
        do throws(InvalidSetting) {
            try check()
        } catch {
            throw ValidationError(error.optionText)
        }
    }
}

extension InvalidSetting {
    /// The options whose names differ from their settings.
    private static let options = [
        "gracePeriod": "grace", "outputFolders": "outputs-under", "commandLimits.memory": "custom-filter-memory",
        "commandLimits.time": "custom-filter-timeout", "downloadRules.connectionsPerHost": "per-host",
        "downloadRules.requestsPerSecond": "rate", "downloadRules.totalRequestsPerSecond": "rate-total",
        "downloadRules.minBytesPerSecond": "min-rate", "downloadRules.maxBytes": "max-download",
        "downloadRules.retryTime": "retry-for", "downloadRules.folders": "files-under",
        "downloadRules.headers": "header", "downloadRules.certificateAuthorities": "ca",
    ]

    /// The option of the setting.
    var option: String {
        let property = setting.split(separator: ".").last.map(String.init) ?? setting
        return "--" + (Self.options[setting] ?? optionName(ofProperty: property))
    }

    /// The message for users of the command line.
    var optionText: String {
        switch problem {
        case .outOfBounds(let value, let lowest, let highest, let isTooLow):
            "\(option) \(value.argumentText): "
                + (isTooLow ? "at least \(lowest.argumentText)" : "at most \(highest.argumentText)")
        case .invalid(let value, let problem): "\(option)\(value.map { " " + $0 } ?? ""): \(problem)"
        }
    }
}

extension SettingNumber {
    /// The value in the form in which users write it.
    var argumentText: String {
        switch self {
        case .count(let number): "\(number)"
        case .pixels(let number): Quantity(number).argumentText
        case .bytes(let number): ByteSize(bytes: number).argumentText
        case .perSecond(let number): String(format: "%g/s", number)
        case .share(let number): "\(number)"
        case .duration(let duration): duration.argumentText
        }
    }
}
