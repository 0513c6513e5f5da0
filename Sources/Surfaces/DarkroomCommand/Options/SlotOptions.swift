import ArgumentParsing
import Darkroom
import DarkroomWorker

/// Options for the number, priority and time limits of concurrent downloads and filtrations.
struct SlotOptions: ParsableArguments {
    @Option(
        help: """
            Downloads that receive data at the same time; by default 128 for each core, up to 1024. Up to 2,000 more wait \
            for their servers.
            """, valueName: "count",
        synonyms: Mistakes.namesOfParallelWork + ["connections"])
    var downloads: Int?
    @Option(
        help: "Concurrent filtrations; by default the number of cores.", valueName: "count",
        synonyms: Mistakes.namesOfParallelWork + ["cores", "cpus"])
    var filtrations: Int?
    @Option(help: "The longest time for running photos to finish after a stop signal.", valueName: "duration")
    var grace: Duration = .seconds(10)
    @Option(
        help: """
            The processor priority of filtering: 0.0 only when the processor is idle, 0.5 normal, 1.0 highest; more \
            than 0.5 needs privileges.
            """,
        valueName: "number")
    var threadPriority: Double = 0.5

    @Option(
        help: """
            The CPU time limit for developing a photo of up to 20 million pixels; larger photos get proportionally \
            more. A photo that exceeds the limit fails as filter-timeout.
            """,
        valueName: "duration")
    var photoTimeout: Duration = .seconds(60)
    @Flag(
        help: """
            Decode and filter every photo in a confined helper process. By default, JPEGs that are written as JPEGs \
            are developed in the worker, unless leases of their operation have expired twice.
            """)
    var isolate: Bool

    func validate() throws {
        if let downloads { try require(WorkerBounds.slots, downloads, "--downloads") }
        if let filtrations { try require(WorkerBounds.slots, filtrations, "--filtrations") }
        try require(WorkerBounds.gracePeriods, grace, "--grace")
        try require(WorkerBounds.photoTimeouts, photoTimeout, "--photo-timeout")
        guard WorkerBounds.threadPriorities.contains(threadPriority) else {
            throw ValidationError("--thread-priority \(threadPriority): from 0.0 to 1.0")
        }
    }

    func apply(to configuration: inout WorkerConfiguration) {
        configuration.downloads = downloads ?? configuration.downloads
        configuration.filtrations = filtrations ?? configuration.filtrations
        configuration.grace = grace
        configuration.threadPriority = threadPriority
        configuration.photoTimeout = photoTimeout
        configuration.isolatesEveryPhoto = isolate
        configuration.useThisProgramAsHelper(arguments: [])
    }
}
