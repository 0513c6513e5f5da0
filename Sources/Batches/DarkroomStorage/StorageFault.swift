import DarkroomModel

/// The reason why a file could not be stored.
package struct StorageFault: Error, Sendable {
    /// The files that the fault affects.
    package enum Scope: Sendable, Equatable {
        /// Only this file.
        case file
        /// All files of the batch.
        case batch
        /// All files in a domain, including the files of other batches.
        case domain(StorageDomain)
    }

    package var scope: Scope
    /// The kind of cause.
    package var code: Refusal.Code
    /// The cause, and the remedy if there is one.
    package var detail: String
    /// The number of bytes that must be free before the fault counts as gone.
    package var room: Int
    /// Checks whether the fault is gone.
    package var check: any StorageCheck
    /// The path of the incomplete file, if it could not be removed.
    package var remains: String?

    package init(
        _ scope: Scope, _ code: Refusal.Code = .other, detail: String, room: Int = 0, check: any StorageCheck,
        remains: String? = nil
    ) {
        self.scope = scope
        self.code = code
        self.detail = detail
        self.room = room
        self.check = check
        self.remains = remains
    }

    /// Whether space or a quota is used up.
    package var isFull: Bool { code == .diskFull }

    /// Whether another batch has taken the place.
    package var isTaken: Bool { code == .folderTaken }

    /// The reason of the photo's failure, if the worker does not wait until the fault is gone.
    package var reason: FailureReason { isFull ? .diskFull : .outputDenied }

    /// The refusal of a batch whose files cannot be stored because of this fault.
    package var refusal: Refusal { Refusal(code, detail) }

    package var domain: StorageDomain? { if case .domain(let domain) = scope { domain } else { nil } }
}

/// Finds out whether a storage fault is gone. All methods block.
package protocol StorageCheck: Sendable {
    /// The location of the place, used in messages and by ``StorageCalls``.
    var location: String { get }

    /// Tries to store `room` bytes.
    /// - Returns: the fault that prevents this now, which may differ from the earlier fault; nil if there is none.
    func fault(room: Int) -> StorageFault?

    /// Takes the place again for the batch, which has received a higher number.
    /// - Parameter number: see ``BatchFacts/outputTaken``.
    func retake(_ number: Int)

    /// Removes an incomplete file, see ``StorageFault/remains``.
    func remove(_ remains: String)
}
