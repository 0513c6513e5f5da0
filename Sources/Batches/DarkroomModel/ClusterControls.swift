/// The settings of the cluster that users can change at any time.
public struct ClusterControls: Sendable, Equatable {
    /// True while no worker may start a download or filtration.
    public package(set) var isSuspended = false
    /// True while no worker may start a download.
    public package(set) var areDownloadsSuspended = false
    /// True while no worker may start a filtration.
    public package(set) var areFiltrationsSuspended = false
    /// The maximum number of concurrent downloads in each worker; nil means no limit.
    public package(set) var downloads: Int?
    /// The maximum number of concurrent filtrations in each worker; nil means no limit.
    public package(set) var filtrations: Int?

    package init() {}

    /// Reads the text that the scripts write (`cluster_controls.lua`): `flags,downloads,filtrations`, for example
    /// `s,16,`. Returns nil if the text is invalid.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        isSuspended = parts[0].contains("s")
        areDownloadsSuspended = parts[0].contains("d")
        areFiltrationsSuspended = parts[0].contains("f")
        downloads = Self.limit(Int(parts[1]), Self.downloadLimits)
        filtrations = Self.limit(Int(parts[2]), Self.filtrationLimits)
    }

    /// The allowed limits on concurrent downloads.
    package static let downloadLimits = 1...1024
    /// The allowed limits on concurrent filtrations.
    package static let filtrationLimits = 1...256

    /// A limit from Redis; nil if there is no limit, or if it is out of bounds.
    package static func limit(_ value: Int?, _ bounds: ClosedRange<Int>) -> Int? {
        value.flatMap { bounds.contains($0) ? $0 : nil }
    }
}
