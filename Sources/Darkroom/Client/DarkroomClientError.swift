/// Why a client did not do what it was asked, where no error of the store, the coordinator or the control says so.
public struct DarkroomClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; more may be added.
    public struct Code: Sendable, Hashable {
        private enum Kind { case batchGone, batchDamaged, timedOut, unfinished }
        private let kind: Kind

        /// The batch is not, or no longer, in Redis.
        public static let batchGone = Code(kind: .batchGone)
        /// What Redis holds of the batch is out of bounds: no worker runs it.
        public static let batchDamaged = Code(kind: .batchDamaged)
        /// The time was over before the batch was.
        public static let timedOut = Code(kind: .timedOut)
        /// The batch has not finished.
        public static let unfinished = Code(kind: .unfinished)
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, on what, what was found, what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func gone(_ id: BatchID) -> DarkroomClientError {
        DarkroomClientError(.batchGone, "batch \(id) is not in Redis: it was forgotten, or never there")
    }

    static func damaged(_ batch: BatchFacts) -> DarkroomClientError {
        DarkroomClientError(
            .batchDamaged,
            "batch \(batch.id) is damaged in Redis: \(batch.damage.joined(separator: ", ")); forget it, and submit its list again"
        )
    }

    static func unfinished(_ id: BatchID, _ state: BatchState) -> DarkroomClientError {
        DarkroomClientError(
            .unfinished,
            "forget batch \(id): it is \(state.rawValue); wait for its end, or forget it as one that has not finished")
    }

    static func timedOut(_ open: [BatchID], _ timeout: Duration) -> DarkroomClientError {
        let more = open.count > 1 ? " and \(open.count - 1) more" : ""
        return DarkroomClientError(
            .timedOut,
            "wait for batch \(open.map(\.description).first ?? "")\(more): not finished within \(timeout); "
                + "what hinders it is told by darkroom status")
    }
}
