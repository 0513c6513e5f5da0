import ArgumentParsing
import Darkroom

/// Options for the number, priority and time limits of concurrent downloads and filtrations.
struct SlotOptions: WorkerOptions {
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
    var grace: Duration = PhotoWorkerConfiguration().gracePeriod
    @Option(
        help: """
            The processor priority of filtering: 0.0 only when the processor is idle, 0.5 normal, 1.0 highest; more \
            than 0.5 needs privileges.
            """,
        valueName: "number")
    var threadPriority: Double = PhotoWorkerConfiguration().threadPriority

    @Option(
        help: """
            The CPU time limit for developing a photo of up to 20 million pixels; larger photos get proportionally \
            more. A photo that exceeds the limit fails as filter-timeout.
            """,
        valueName: "duration")
    var photoTimeout: Duration = PhotoWorkerConfiguration().photoTimeout
    @Flag(
        help: """
            Decode and filter every photo in a confined helper process. By default, JPEGs that are written as JPEGs \
            are developed in the worker, unless leases of their operation have expired twice.
            """)
    var isolate: Bool

    func fill(_ configuration: inout PhotoWorkerConfiguration) {
        configuration.downloads = downloads
        configuration.filtrations = filtrations
        configuration.gracePeriod = grace
        configuration.threadPriority = threadPriority
        configuration.photoTimeout = photoTimeout
        configuration.isolatesEveryPhoto = isolate
    }
}
