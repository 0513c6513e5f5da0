import DarkroomFiles
import DarkroomModel
import Foundation

@testable import DarkroomStorage

/// Places on a ``MemoryDisk`` of its own.
final class MemoryHarness: StorageHarness {
    private let disk = MemoryDisk.named(UUID().uuidString)

    deinit { MemoryDisk.remove(disk.name) }

    func place(_ name: String) -> any StoragePlace { MemoryPlace(location: "\(trusted)/\(name)") }

    var rules: StorageRules {
        let folders = FolderRules(holderPatience: .seconds(30), syncFileSystem: { _ in 0 })
        return StorageRules(places: [], isRemote: false, folders: folders)
    }

    var trusted: String { "\(MemoryPlace.beginning)\(disk.name)" }

    // MARK: Faults

    func fill(leaving room: Int) { disk.withState { $0.free = room } }
    func takeAway() { disk.withState { $0.isAway = true } }
    func makeReadOnly() { disk.withState { $0.isReadOnly = true } }
    func loseUnsynced() { disk.withState { $0.losses.append(.now) } }

    func mend() {
        disk.withState { state in
            (state.free, state.isAway, state.isReadOnly) = (.max, false, false)
            state.places = state.places.mapValues { content in
                var content = content
                content.unreadable = []
                return content
            }
        }
    }

    func makeUnreadable(_ held: HeldOperation, in place: any StoragePlace) {
        change(place) { _ = $0.unreadable.insert(MemoryEntry(held)) }
    }

    func block(_ path: String, in place: any StoragePlace) throws {
        change(place) { _ = $0.blocked.insert(path) }
    }

    func unblock(_ path: String, in place: any StoragePlace) throws { change(place) { $0.blocked.remove(path) } }

    func replace(_ place: any StoragePlace) throws {
        change(place) { $0 = MemoryContent(reserved: $0.reserved, generation: $0.generation + 1) }
    }

    // MARK: What is stored

    private func change(_ place: any StoragePlace, _ body: (inout MemoryContent) -> Void) {
        let name = Path.split(place.location).name
        disk.withState { body(&$0.places[name, default: MemoryContent()]) }
    }

    private func content(_ place: any StoragePlace) -> MemoryContent {
        disk.withState { $0.places[Path.split(place.location).name] ?? MemoryContent() }
    }

    func files(in place: any StoragePlace) -> [String: [UInt8]] { content(place).files.mapValues(\.bytes) }
    func time(of path: String, in place: any StoragePlace) -> FileTime? { content(place).files[path]?.time }
    func remains(in place: any StoragePlace) -> [String] { content(place).remains.keys.sorted() }

    func savedRemains(in place: any StoragePlace) -> () throws -> Void {
        let saved = content(place).remains
        return { self.change(place) { $0.remains.merge(saved) { _, saved in saved } } }
    }

    /// Lines are stored in one step.
    func leaveLines(of held: HeldOperation, worker: String, in place: any StoragePlace) {}

    func tokens(of operation: Int, _ batch: BatchID, in place: any StoragePlace) -> [Int] {
        content(place).tokens(of: operation, batch).sorted()
    }

    func store(_ bytes: [UInt8], as held: HeldOperation, in place: any StoragePlace) {
        change(place) { $0.entries[MemoryEntry(held)] = bytes }
    }

    func remove(_ path: String, in place: any StoragePlace) { change(place) { $0.files[path] = nil } }
    func link(_ path: String, to target: String, in place: any StoragePlace) -> Bool { false }
}
