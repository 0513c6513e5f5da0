import Darkroom

extension BatchFacts {
    /// The message for a batch that was cancelled while it was being fed or executed.
    var cancellation: String {
        let why = cancelledReason.isEmpty ? "" : " (\(HumanText.safe(cancelledReason)))"
        guard !sealed else { return "batch \(label) was cancelled\(why)" }
        return
            "batch \(label) was cancelled while it was fed\(why): \(HumanText.count(photos, of: "photo")) of the list "
            + (photos == 1 ? "was" : "were") + " fed, nothing more will be"
    }
}
