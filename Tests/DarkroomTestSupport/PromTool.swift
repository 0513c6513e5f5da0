import Foundation

/// Debian's promtool.
package enum PromTool {
    /// What `promtool check metrics` finds in metrics; empty for nothing.
    package static func findings(in metrics: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
        process.arguments = ["check", "metrics"]
        let scratch = try ScratchFolder(), output = Pipe()
        process.standardInput = try FileHandle(
            forReadingFrom: URL(fileURLWithPath: try scratch.write("metrics", metrics)))
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? printed : "exit status \(process.terminationStatus): \(printed)"
    }
}
