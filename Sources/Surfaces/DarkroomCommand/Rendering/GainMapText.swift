import Darkroom

/// The message about photos whose gain maps are not in their files.
enum GainMapText {
    static func lost(_ count: Int) -> String {
        "\(HumanText.count(count, of: "photo")) lost the gain map for HDR screens; only photos whose bytes are kept keep it"
    }
}
