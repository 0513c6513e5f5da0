import ArgumentParsing
import Darkroom
import DarkroomWorker

/// How much a worker does at once, and how it stops.
struct SlotOptions: ParsableArguments {
    @Option(help: "Downloads at once.", valueName: "count") var downloads: Int = 32
    @Option(help: "Photos filtered at once; as many as there are cores unless given.", valueName: "count")
    var filtrations: Int?
    @Option(help: "How long running photos may take to end when it is stopped.", valueName: "duration")
    var grace: Duration = .seconds(10)
    @Option(
        help: """
            How readily filtering gets the processor: 0.0 when nobody else wants it, 0.5 as usual, up to 1.0 (which \
            takes privileges).
            """,
        valueName: "number")
    var threadPriority: Double = 0.5

    @Option(
        help: """
            The processor time that developing a photo of up to 20 million pixels may take, larger ones more in \
            proportion; what takes longer fails as filter-timeout.
            """,
        valueName: "duration")
    var photoTimeout: Duration = .seconds(60)
    @Flag(
        help: """
            Decode and filter every photo in a confined helper process; otherwise JPEGs that become JPEGs are developed \
            in the worker, unless two workers have died on them.
            """)
    var isolate: Bool

    func validate() throws {
        try requireAtLeast(1, downloads, "--downloads")
        try requireAtLeast(1, filtrations ?? 1, "--filtrations")
        guard photoTimeout >= .seconds(1) else { throw ValidationError("--photo-timeout: at least 1s") }
        guard (0...1).contains(threadPriority) else {
            throw ValidationError("--thread-priority \(threadPriority): from 0.0 to 1.0")
        }
    }

    /// Puts these into what a worker may do.
    func apply(to configuration: inout WorkerConfiguration) {
        configuration.downloads = downloads
        configuration.filtrations = filtrations ?? configuration.filtrations
        configuration.grace = grace
        configuration.threadPriority = threadPriority
        configuration.photoTimeout = photoTimeout
        configuration.isolatesEveryPhoto = isolate
        configuration.useThisProgramAsHelper(arguments: [])
    }
}
