import DarkroomHTTP
import DarkroomLogging
import DarkroomWorker

/// The settings of a web server.
package struct WebConfiguration: Sendable {
    /// The address and port to listen on.
    package var address = ListenAddress(host: "127.0.0.1", port: 8080)
    package var access: AccessRule
    /// A token with which programs read `/metrics` and nothing else.
    package var metricsToken: String?
    /// Logs the changes that clients make.
    package var logger = Logger.silent
    /// Host names by which clients call the server, in addition to its address.
    package var hosts: [String] = []
    package var certificate: ServerCertificate?
    /// The path prefix of the requests that a proxy passes on, such as `/darkroom`; empty for the root.
    package var prefix = ""
    /// Whether the server refuses all changes.
    package var isReadOnly = false
    /// The real paths of the folders whose photos are shown, including the photos in their subfolders.
    package var photosUnder: [String] = []
    /// The folder for uploads and for the cache of thumbnails. Only the user of this process can use it.
    package var scratchFolder: String
    /// The largest number of bytes of the cached thumbnails.
    package var cacheBytes = 1 << 30
    /// The processes that make thumbnails. Photos come from untrusted hosts, so they are never decoded in this process,
    /// which has the token and the password of Redis.
    package var helpers: PhotoHelpers
    /// Submits lists; nil if clients cannot submit lists.
    package var submission: ListFeeds?
    /// The largest number of bytes of an uploaded list.
    package var uploadBytes = 2 << 30
    /// The largest number of browsers that watch batches at the same time.
    package var mostViewers = 2000

    /// Photos with more pixels have no thumbnail.
    package static let maxPixels = 100_000_000

    package init(access: AccessRule, scratchFolder: String, helpers: PhotoHelpers) {
        self.access = access
        self.helpers = helpers
        self.scratchFolder = scratchFolder
    }
}
