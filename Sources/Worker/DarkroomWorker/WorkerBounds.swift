import DarkroomText

/// The bounds of a worker's settings, for the command line and for programs that use the library. The upper bounds are
/// larger than any useful value; they keep sums and products of settings within 64 bits.
package enum WorkerBounds {
    /// The number of concurrent downloads, of concurrent filtrations, or of connections to one host.
    package static let slots = 1...10_000
    /// The size of a download, or of all downloads that wait for filtration.
    package static let bytes = 1...1 << 40
    /// The address space of a command. A program cannot even start with less.
    package static let commandMemory = 16 << 20...1 << 40
    /// The pixels of a photo.
    package static let pixels = 1...1_000_000_000_000
    /// The minimum transfer rate in bytes per second; 0 for no minimum.
    package static let rates = 0...1 << 40
    /// The number of requests per second.
    package static let requestRates = 0.001...10_000
    /// The number of retries or redirects of a download.
    package static let retries = 0...10_000
    /// How long a silent host or a failing photo is tried again.
    package static let patience = Duration.zero...longest
    /// The timeouts of a download.
    package static let timeouts = Duration.milliseconds(1)...longest
    /// The processor time limit of a photo.
    package static let photoTimeouts = Duration.seconds(1)...longest
    /// The time for running photos after a stop.
    package static let gracePeriods = Duration.zero...longest
    /// The priorities of filtration threads.
    package static let threadPriorities = 0.0...1.0

    /// One year.
    private static let longest = Duration.seconds(365 * 24 * 3600)

    /// Whether a text can be the `User-Agent` header.
    package static func isUserAgent(_ text: String) -> Bool { text == PrintableText.escaped(text) }
}
