import ArgumentParsing
import Darkroom

/// How much a worker does at once, and how it stops.
struct SlotOptions: ParsableArguments {
    @Option(help: "Downloads at once.", valueName: "count") var downloads: Int = 32
    @Option(help: "Photos filtered at once; as many as there are cores unless given.", valueName: "count")
    var filtrations: Int?
    @Option(help: "How long running photos may take to end when it is stopped.", valueName: "duration")
    var grace: Duration = .seconds(10)

    func validate() throws {
        try requireAtLeast(1, downloads, "--downloads")
        try requireAtLeast(1, filtrations ?? 1, "--filtrations")
    }

    /// Puts these into what a worker may do.
    func apply(to configuration: inout WorkerConfiguration) {
        configuration.downloads = downloads
        configuration.filtrations = filtrations ?? configuration.filtrations
        configuration.grace = grace
    }
}
