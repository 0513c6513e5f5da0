import Darkroom
import Foundation

/// The figures of a benchmark. Some figures are compared with a floor: the best possible result.
struct BenchReport {
    struct Result {
        let what: String
        let value: Double
        let unit: String
        var floor: Double?
        var ratio: Double? { floor.map { value / $0 } }
    }

    let name: String
    private(set) var results: [Result] = []

    init(_ name: String) { self.name = name }

    mutating func add(_ what: String, _ value: Double, _ unit: String, floor: Double? = nil) {
        results.append(Result(what: what, value: value, unit: unit, floor: floor))
    }

    /// Prints the figures as a table or as a JSON document.
    func print(json: Bool) {
        guard !json else {
            let document: JSON = [
                "name": .string(name), "machine": .string(Self.machine),
                "results": .array(
                    results.map {
                        [
                            "what": .string($0.what), "value": JSON($0.value, decimals: 3), "unit": .string($0.unit),
                            "floor": JSON($0.floor, decimals: 3), "ratio": JSON($0.ratio, decimals: 3),
                        ]
                    }),
            ]
            return Swift.print(document.text)
        }
        Swift.print("\(name), \(Self.machine)")
        let width = results.map(\.what.count).max() ?? 0
        for result in results {
            var line = result.what.padding(toLength: width, withPad: " ", startingAt: 0)
            line += "  " + Self.text(result.value) + " " + result.unit
            if let floor = result.floor, let ratio = result.ratio {
                line += "  (floor \(Self.text(floor)), ratio \(String(format: "%.3f", ratio)))"
            }
            Swift.print(line)
        }
    }

    private static func text(_ value: Double) -> String {
        value >= 100 ? HumanText.count(Int(value.rounded())) : String(format: "%.2f", value)
    }

    /// The cores and the memory of the machine, on which the figures depend.
    private static var machine: String {
        let memory = Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824
        return "\(ProcessInfo.processInfo.activeProcessorCount) cores, \(Int(memory.rounded())) GiB"
    }
}

/// The median of several runs.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The resources that this process has used.
struct ProcessUsage {
    /// The processor time of user and system code, in seconds.
    let cpuSeconds: Double
    let peakBytes: Int

    static var now: ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return ProcessUsage(
            cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), peakBytes: usage.ru_maxrss * 1024)
    }
}
