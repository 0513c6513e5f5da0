import Darkroom
import DarkroomFiles
import DarkroomHTTP
import DarkroomStorage

/// The objects that all routes of a server share.
final class Site: Sendable {
    let client: DarkroomClient
    let configuration: WebConfiguration
    let access: AccessControl
    let hub: LiveHub
    /// The places whose photos are shown.
    let places: TrustedPlaces
    let thumbnails: ThumbnailMaker
    let manifestLines = ManifestLines()
    let readiness: Readiness

    /// - Parameter address: the address on which the server listens.
    init(_ client: DarkroomClient, _ configuration: WebConfiguration) throws(SystemFailure) {
        self.client = client
        self.configuration = configuration
        readiness = Readiness(client)
        access = AccessControl(
            configuration.access, metricsToken: configuration.metricsToken, address: configuration.address,
            hosts: configuration.hosts,
            hasTLS: configuration.certificate != nil)
        hub = LiveHub(client, mostViewers: configuration.mostViewers)
        places = TrustedPlaces(configuration.photosUnder)
        let scratch = try Folder(trusted: configuration.scratchFolder)
        try scratch.requirePrivate()
        thumbnails = ThumbnailMaker(
            try ThumbnailCache(in: scratch, maxBytes: configuration.cacheBytes), helpers: configuration.helpers)
    }

    private var prefix: [String] { configuration.prefix.split(separator: "/").map(String.init) }

    /// The components of a path after the prefix of the proxy; nil if the path does not begin with the prefix.
    func pathBelowPrefix(_ path: [String]) -> ArraySlice<String>? {
        path.starts(with: prefix) ? path.dropFirst(prefix.count) : nil
    }

    /// The address of a page of this server, with the prefix of the proxy.
    /// - Parameter components: not encoded.
    func link(_ components: String..., query: [(name: String, value: String)] = []) -> String {
        let path = components.map { "/" + RequestTarget.encoded($0) }.joined()
        return configuration.prefix + (path.isEmpty ? "/" : path) + Self.text(ofQuery: query)
    }

    /// The query at the end of an address: `?name=value`; empty without parameters.
    static func text(ofQuery query: [(name: String, value: String)]) -> String {
        let pairs = query.map { "\(RequestTarget.encoded($0.name))=\(RequestTarget.encoded($0.value))" }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }
}
