import DarkroomText

/// The bounds of a worker's settings, for the command line and for programs that use the library.
package enum WorkerBounds {
    /// The smallest value of settings that count downloads, filtrations, connections to a host, pixels of a photo, or
    /// bytes.
    package static let leastCount = 1
    /// The smallest number of retries or redirects, and the smallest value of the minimum rate.
    package static let leastRetries = 0
    /// The shortest timeout of a download.
    package static let shortestTimeout = Duration.milliseconds(1)
    /// The shortest processor time limit of a photo.
    package static let shortestPhotoTimeout = Duration.seconds(1)
    /// The priorities of filtration threads.
    package static let threadPriorities = 0.0...1.0

    /// Whether a text can be the `User-Agent` header.
    package static func isUserAgent(_ text: String) -> Bool { text == PrintableText.escaped(text) }
}
