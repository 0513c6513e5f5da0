import DarkroomFiles
import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStorage

/// A kind of storage with which the suite runs.
enum StorageKind: String, CaseIterable, CustomTestStringConvertible {
    case folder
    case memory

    /// The kinds whose space can be limited in this environment.
    static let limited = allCases.filter { $0 != .folder || MountNamespace.isAvailable }

    var testDescription: String { rawValue }

    /// - Parameter isLimited: whether the test calls ``StorageHarness/fill(leaving:)`` or
    ///   ``StorageHarness/makeReadOnly()``.
    func harness(isLimited: Bool = false) throws -> any StorageHarness {
        switch self {
        case .folder: try FolderHarness(isLimited: isLimited)
        case .memory: MemoryHarness()
        }
    }
}

/// Storage of a test: what the suite needs besides the protocols of the storage.
///
/// The storage is removed with this object.
protocol StorageHarness: AnyObject {
    /// A place, which does not exist at first. All places of a harness are in one domain.
    func place(_ name: String) -> any StoragePlace

    /// The rules of a worker that may write to all places.
    var rules: StorageRules { get }

    /// A location for ``StorageRules/places`` that contains all places.
    var trusted: String { get }

    // MARK: Faults

    /// Uses up the space except for `room` bytes.
    func fill(leaving room: Int) throws

    /// Makes all places unreachable.
    func takeAway() throws

    /// Makes all places read-only. Files can neither be created, renamed nor removed.
    func makeReadOnly() throws

    /// Makes the storage lose the data that is not durable. Each barrier that was opened before reports the loss once.
    func loseUnsynced()

    /// Makes the stored lines of a claim unreadable. They still exist.
    func makeUnreadable(_ held: HeldOperation, in place: any StoragePlace) throws

    /// Ends the faults that the functions above have begun.
    func mend() throws

    /// Makes one path of a photo's file unwritable.
    func block(_ path: String, in place: any StoragePlace) throws
    func unblock(_ path: String, in place: any StoragePlace) throws

    /// Puts an empty place with the same reservations in the place of another one, as if another disk were mounted.
    func replace(_ place: any StoragePlace) throws

    // MARK: What is stored

    /// The files that have their names, by path.
    func files(in place: any StoragePlace) throws -> [String: [UInt8]]

    func time(of path: String, in place: any StoragePlace) throws -> FileTime?

    /// The names of all files that have no final names.
    func remains(in place: any StoragePlace) throws -> [String]

    /// Returns a function that stores again the remains that are stored now.
    func savedRemains(in place: any StoragePlace) throws -> () throws -> Void

    /// Stores what a worker leaves that crashes while it stores lines, if it can leave anything.
    func leaveLines(of held: HeldOperation, worker: String, in place: any StoragePlace) throws

    /// The fencing tokens with which lines of an operation are stored, in ascending order.
    func tokens(of operation: Int, _ batch: BatchID, in place: any StoragePlace) throws -> [Int]

    /// Stores any bytes as the lines of a claim.
    func store(_ bytes: [UInt8], as held: HeldOperation, in place: any StoragePlace) throws

    /// Removes a file as a user does.
    func remove(_ path: String, in place: any StoragePlace) throws

    /// Makes a symbolic link in a place.
    /// - Returns: false if the storage has no links.
    func link(_ path: String, to target: String, in place: any StoragePlace) throws -> Bool
}
