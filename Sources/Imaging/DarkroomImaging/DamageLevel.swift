internal import CImaging

/// What happens to photos with defects.
package enum DamageLevel: String, Sendable, Codable, CaseIterable {
    /// Any defect fails.
    case fail
    /// A defect that loses no pixels is noted. Missing or corrupt pixels fail.
    case tolerate
    /// The photo is decoded as far as possible.
    case accept

    var c: darkroom_damage {
        switch self {
        case .fail: DARKROOM_FAIL_DAMAGED
        case .tolerate: DARKROOM_TOLERATE_DAMAGED
        case .accept: DARKROOM_ACCEPT_DAMAGED
        }
    }
}
