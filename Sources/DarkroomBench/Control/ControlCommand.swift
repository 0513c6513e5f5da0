import ArgumentParsing
import Darkroom
import DarkroomImaging
import Foundation

/// `darkroom-bench control`: how soon what users change reaches the work.
struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "control", abstract: "How soon cancel, suspend, priorities, focus reach the work that runs.",
        discussion: """
            Workers in this process tell when each download and each filtration begins and ends; a Redis of its own and \
            HTTP servers on the loopback interface. Rounds, then medians and 99th percentiles.
            """,
        examples: ["darkroom-bench control ~/Pictures"])

    /// What can be measured.
    enum Measurement: String, CaseIterable, ExpressibleByArgument {
        case cancel, suspend, cost, start, urgent, fairness, focus
    }

    @Argument(help: "A folder with photos, for what needs many.") var folder: String
    @Option(help: "What is measured; all unless told.", valueName: "measurement") var only: [Measurement]
    @Option(help: "Rounds of what takes milliseconds.", valueName: "count") var rounds: Int = 50
    @Flag(help: "Print the figures as JSON.") var json: Bool

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds \(rounds): at least 1") }
    }

    func run() throws {
        try Imaging.start()
        let cluster = try ControlCluster(folder: folder)
        defer { cluster.close() }
        var report = BenchReport("control")
        for measurement in Measurement.allCases where only.isEmpty || only.contains(measurement) {
            note("measuring \(measurement.rawValue)")
            switch measurement {
            case .cancel: try CancelLatency(cluster: cluster, rounds: rounds).measure(&report)
            case .suspend: try SuspendLatency(cluster: cluster, rounds: rounds).measure(&report)
            case .cost: try SteeringCost(cluster: cluster).measure(&report)
            case .start: try StartLatency(cluster: cluster, rounds: rounds).measure(&report)
            case .urgent: try UrgentLatency(cluster: cluster, rounds: rounds).measure(&report)
            case .fairness: try Fairness(cluster: cluster).measure(&report)
            case .focus: try FocusCost(cluster: cluster).measure(&report)
            }
            cluster.stopWorkers()
        }
        report.print(json: json)
    }
}
