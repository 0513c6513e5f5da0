/// What users can change of the whole cluster at any time.
public struct ClusterControls: Sendable, Equatable {
    /// True while no download and no filtration may begin in any worker.
    public package(set) var isSuspended = false
    /// True while no download may begin in any worker.
    public package(set) var areDownloadsSuspended = false
    /// True while no filtration may begin in any worker.
    public package(set) var areFiltrationsSuspended = false
    /// The most downloads at once in each worker; nil is no limit.
    public package(set) var downloads: Int?
    /// The most filtrations at once in each worker; nil is no limit.
    public package(set) var filtrations: Int?

    package init() {}

    /// Reads what the scripts write (`cluster_controls.lua`): `flags,downloads,filtrations`, as `s,16,`; nil when it is nothing of theirs.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        isSuspended = parts[0].contains("s")
        areDownloadsSuspended = parts[0].contains("d")
        areFiltrationsSuspended = parts[0].contains("f")
        downloads = Self.limit(Int(parts[1]), Self.downloadLimits)
        filtrations = Self.limit(Int(parts[2]), Self.filtrationLimits)
    }

    /// Downloads at once that a limit may allow.
    package static let downloadLimits = 1...1024
    /// Filtrations at once that a limit may allow.
    package static let filtrationLimits = 1...256

    /// A limit as Redis has it; nil when there is none, or it is out of bounds.
    package static func limit(_ value: Int?, _ bounds: ClosedRange<Int>) -> Int? {
        value.flatMap { bounds.contains($0) ? $0 : nil }
    }
}
