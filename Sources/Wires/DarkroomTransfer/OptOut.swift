/// The header lines by which a server says that a photo must not be used: `X-Robots-Tag` with one of ``directives``, and
/// `TDM-Reservation: 1` (TDM Reservation Protocol, W3C Community Group). A plain value.
///
/// A value of `X-Robots-Tag` is a list of directives, separated by commas. The name of an agent and a colon may precede
/// a directive, as in `otherbot: noai, noindex`. In this case, this directive and all later directives in the line
/// apply to this agent alone.
struct OptOut {
    /// The directives that opt out. They have the same meaning in the program img2dataset.
    static let directives: Set<String> = ["noai", "noimageai", "noindex", "noimageindex"]
    /// The directives with a value after a colon. They are not names of agents.
    private static let withValues: Set<String> = [
        "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview",
    ]

    /// The names, in lower case, by which a server may address this program.
    private let agents: Set<String>

    /// - Parameter userAgent: the `User-Agent` of the requests. Its product name is the name by which servers address
    ///   the agent.
    init(userAgent: String) {
        agents = ["darkroom", userAgent.prefix { $0 != "/" && $0 != " " }.lowercased()]
    }

    /// The first directive in a value of `X-Robots-Tag` that forbids the use of the photo; nil if none forbids it.
    func directive(inRobotsTag value: String) -> String? {
        var isForUs = true
        for part in value.lowercased().split(separator: ",") {
            var directive = Self.trimmed(part)
            if let colon = directive.firstIndex(of: ":") {
                let name = Self.trimmed(directive[..<colon])
                // The time of `unavailable_after` may contain commas and colons, but the name of an agent has no spaces.
                guard !Self.withValues.contains(String(name)), !name.contains(" ") else { continue }
                isForUs = agents.contains(String(name))
                directive = Self.trimmed(directive[directive.index(after: colon)...])
            }
            if isForUs, Self.directives.contains(String(directive)) { return String(directive) }
        }
        return nil
    }

    /// Whether a value of `TDM-Reservation` reserves the rights.
    func reserves(_ value: String) -> Bool { Self.trimmed(value[...]) == "1" }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }
}
