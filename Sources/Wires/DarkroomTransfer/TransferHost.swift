/// The host of a photo, in the form by which the transfer engine limits requests.
package enum TransferHost {
    /// The canonical name of the host in a URL; nil if the URL has none, for example because it names a file.
    package static func name(in url: String) -> String? {
        // If a URL cannot be parsed, its download fails and does not wait for a host.
        guard case .web(_, let host) = try? TransferURL(parsing: url) else { return nil }
        return host
    }
}
