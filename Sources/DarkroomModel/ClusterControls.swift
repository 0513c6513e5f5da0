/// What holds for the whole cluster while it runs.
public struct ClusterControls: Sendable, Equatable {
    /// True while nothing may begin anywhere.
    public var isSuspended = false
    /// True while no download may begin.
    public var areDownloadsSuspended = false
    /// True while no filtration may begin.
    public var areFiltrationsSuspended = false
    /// Downloads at once of every worker; nil leaves it to each.
    public var downloads: Int?
    /// Filtrations at once of every worker; nil leaves it to each.
    public var filtrations: Int?

    /// Nothing special.
    public init() {}

    /// Reads what the scripts write (`cluster_controls.lua`): `flags,downloads,filtrations`, as `s,16,`; nil when it is nothing of theirs.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        isSuspended = parts[0].contains("s")
        areDownloadsSuspended = parts[0].contains("d")
        areFiltrationsSuspended = parts[0].contains("f")
        downloads = Self.limit(Int(parts[1]), Self.downloadLimits)
        filtrations = Self.limit(Int(parts[2]), Self.filtrationLimits)
    }

    /// Downloads at once that a limit may allow.
    public static let downloadLimits = 1...1024
    /// Filtrations at once that a limit may allow.
    public static let filtrationLimits = 1...256

    /// A limit as Redis has it; nil when there is none, or it is out of bounds.
    public static func limit(_ value: Int?, _ bounds: ClosedRange<Int>) -> Int? {
        value.flatMap { bounds.contains($0) ? $0 : nil }
    }
}
