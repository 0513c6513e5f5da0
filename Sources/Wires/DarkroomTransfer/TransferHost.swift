/// The host of a photo, as the transfer engine counts its connections.
package enum TransferHost {
    /// The canonical name of the host in a URL; nil if the URL has none, for example because it names a file.
    package static func name(in url: String) -> String? {
        // A URL that cannot be parsed fails in its download and does not wait for a host.
        guard case .web(_, let host) = try? TransferURL(parsing: url) else { return nil }
        return host
    }
}
