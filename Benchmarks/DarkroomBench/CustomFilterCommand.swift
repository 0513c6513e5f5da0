import ArgumentParsing
import DarkroomModel
import DarkroomText
import DarkroomWorker
import Foundation

/// `darkroom-bench custom-filter`: measures the processor time that a command adds to each photo.
struct CustomFilterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "custom-filter", abstract: "Measure the processor time of a command for each photo.",
        discussion: """
            The command runs for photos in memory, one at a time. The figure is the processor time of this process, of \
            the command and of its supervisor per photo, without the first photos.
            """,
        examples: ["darkroom-bench custom-filter cat"])

    @Argument(help: "The command, as in worker --custom-filter NAME='COMMAND'.") var command: String
    @Flag(help: "The command is a kept process (--custom-filter-style stream).") var stream: Bool
    @Option(help: "Photos.", valueName: "count") var photos: Int = 2000
    @Option(help: "The size of a photo.", valueName: "size") var size: ByteSize = ByteSize(bytes: 100_000)

    func validate() throws {
        guard photos > 0, size.bytes > 0 else { throw ValidationError("--photos and --size are at least 1") }
    }

    func run() throws {
        let few = try processorTime(photos: 10)
        let all = try processorTime(photos: 10 + photos)
        let milliseconds = (all - few) / .milliseconds(1) / Double(photos)
        print(String(format: "%.3f ms of processor time per photo", milliseconds))
    }

    /// Runs the command `photos` times. Returns the processor time of this process and its children in this time.
    private func processorTime(photos: Int) throws -> Duration {
        let operation = try FilterCommand("bench", command: command, style: stream ? .stream : .process)
        let bytes = [UInt8](repeating: 1, count: size.bytes)
        let record = PhotoRecord(index: 0, name: "photo.jpg", url: "http://photos.example/photo.jpg")
        let photo = CommandPhoto(bytes: bytes, record: record, batch: "bench")
        let before = Self.processorTime
        for _ in 0..<photos { _ = try operation.run(photo) { false } }
        operation.stop()
        return Self.processorTime - before
    }

    private static var processorTime: Duration {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(.zero) { sum, who in
            var used = rusage()
            getrusage(__rusage_who_t(who), &used)
            return sum + .seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
                + .microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec)
        }
    }
}
