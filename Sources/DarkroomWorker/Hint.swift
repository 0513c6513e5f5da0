import Foundation

/// A message of the control channel: "this changed".
struct Hint: Decodable {
    /// What changed: `work` when a batch has operations to hand out.
    let change: String
    /// How many workers hear it.
    let workers: Int?

    /// A message as it came; nil when it is none that this version knows.
    init?(_ text: [UInt8]) {
        guard let hint = try? JSONDecoder().decode(Hint.self, from: Data(text)), hint.change == "work" else {
            return nil
        }
        self = hint
    }
}
