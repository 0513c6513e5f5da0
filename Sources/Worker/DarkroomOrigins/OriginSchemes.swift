import DarkroomModel
import DarkroomText
import DarkroomTransfer

/// The origins of a worker, one for each kind of URL.
package struct OriginSchemes: Sendable {
    private struct Kind: Sendable {
        let schemes: [String]
        /// Whether batches may keep the bytes in their folders of originals.
        let isKept: Bool
        let origin: @Sendable (TransferEngine, FetchRules) -> any PhotoOrigin
    }

    /// The kinds of origins. Each of their schemes also has a line in ``URLScheme/all``.
    private static let all = [
        Kind(schemes: ["http", "https"], isKept: true) { WebOrigin(engine: $0, rules: $1) },
        Kind(schemes: ["file"], isKept: false) { engine, _ in FileOrigin(engine: engine) },
    ]

    /// The origins of the kinds in `all`, in the same order.
    private let origins: [any PhotoOrigin]

    /// - Parameters:
    ///   - engine: fetches from the network, and from `file:` URLs.
    ///   - rules: the URLs that may be fetched.
    package init(_ engine: TransferEngine, _ rules: FetchRules) {
        origins = Self.all.map { $0.origin(engine, rules) }
    }

    /// The origin of a photo.
    /// - Throws: ``TransferError`` if the URL cannot be fetched.
    package func origin(of url: String) throws(TransferError) -> any PhotoOrigin {
        if let problem = PhotoURL.check(url) {
            throw TransferError(
                code: problem.reason == .schemeDenied ? .schemeDenied : .notAURL, detail: problem.detail)
        }
        guard let kind = Self.kind(of: url) else {
            throw TransferError(code: .schemeDenied, detail: "URLs of this scheme have no origin")
        }
        return origins[kind]
    }

    /// Whether batches may keep the bytes of a URL in their folders of originals.
    package static func isKept(_ url: String) -> Bool { kind(of: url).map { all[$0].isKept } ?? false }

    private static func kind(of url: String) -> Int? {
        guard let scheme = URLScheme.of(url) else { return nil }
        return all.firstIndex { $0.schemes.contains(scheme.name) }
    }
}
