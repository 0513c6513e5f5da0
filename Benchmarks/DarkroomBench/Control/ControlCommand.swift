import ArgumentParsing
import Darkroom
import DarkroomImaging
import DarkroomText
import Foundation

/// `darkroom-bench control`: measures the time until controls take effect on running work.
struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "control", abstract: "Measure how soon cancel, suspend, priorities and focus take effect.",
        discussion: """
            Workers in this process log the start and end of each download and filtration. They use a private Redis \
            and HTTP servers on the loopback interface. The command prints medians and 99th percentiles of several \
            rounds.
            """,
        examples: ["darkroom-bench control ~/Pictures"])

    enum Measurement: String, CaseIterable, ExpressibleByArgument {
        case cancel, suspend, cost, start, urgent, fairness, focus
    }

    @Argument(help: "A folder with photos, for measurements that need many photos.") var folder: String
    @Option(help: "The measurements to run; by default all.", valueName: "measurement") var only: [Measurement]
    @Option(help: "The number of rounds of each short measurement.", valueName: "count") var rounds: Int = 50
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
            case .cost: try ControlCost(cluster: cluster).measure(&report)
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
