/// The treatment of photos whose files have defects.
public enum DamagedPhotos: String, Sendable, CaseIterable {
    /// A photo with any defect that the decoders find fails with the reason ``FailureReason/damaged``.
    case fail
    /// Photos that have all their pixels are developed, and the manifest names the defects. Photos with missing or
    /// corrupt pixels fail.
    case tolerate
    /// Photos are decoded as far as possible.
    case accept

    /// The value in the hash of a batch. Earlier versions stored 1 for ``accept`` and the empty text for ``fail``, and
    /// treated every other text as ``fail``.
    var stored: String {
        switch self {
        case .fail: ""
        case .tolerate: rawValue
        case .accept: "1"
        }
    }

    /// Reads the value in the hash of a batch; nil if it is unknown.
    init?(stored: String) {
        guard let found = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
        self = found
    }
}
