import Darkroom
import DarkroomStore

/// The states of consecutive photos, one code for each photo: the state codes of Redis, `P` for a photo that is neither
/// downloaded nor final and that a worker runs, and `?` for a damaged state code. A failure reason that this version does
/// not know has the code of ``FailureReason/other``.
///
/// If a window is read again without a change, the earlier object is kept, so that windows are compared quickly.
final class StateWindow: Sendable {
    let first: Int
    let codes: [UInt8]

    static let inProgress = UInt8(ascii: "P")

    /// The largest number of photos of a window.
    static let mostPhotos = 5000

    init(first: Int, codes: [UInt8]) {
        self.first = first
        self.codes = codes
    }

    /// Reads the states of the photos in `range` that are fed. Blocks.
    /// - Parameters:
    ///   - range: at most ``mostPhotos`` photos.
    ///   - running: the photos that workers run; nil if all photos of the operations that workers hold count as
    ///     running.
    static func read(
        _ range: Range<Int>, of batch: BatchFacts, running: [PhotoRanges]?, in store: BatchStore
    ) throws(StoreError) -> StateWindow {
        let photos = range.clamped(to: 0..<batch.photos), size = batch.options.operationSize
        var codes: [UInt8] = []
        // One call takes at most 1,000 operations.
        for start in stride(from: photos.lowerBound, to: photos.upperBound, by: 900 * size) {
            let end = min(start + 900 * size, photos.upperBound)
            let operations = try store.operations(of: batch, in: start / size + 1...(end - 1) / size + 1)
            codes += operations.flatMap { shown($0, of: batch) }.dropFirst(start % size).prefix(end - start)
        }
        if let running { mark(&codes, from: photos.lowerBound, running) }
        return StateWindow(first: photos.lowerBound, codes: codes)
    }

    /// Replaces the code `P` of each photo that does not run with the code of a new photo.
    private static func mark(_ codes: inout [UInt8], from first: Int, _ running: [PhotoRanges]) {
        var isRunning = [Bool](repeating: false, count: codes.count)
        for range in running.flatMap(\.ranges) where range.overlaps(first...first + max(codes.count, 1) - 1) {
            for index in range.clamped(to: first...first + max(codes.count, 1) - 1) where index - first < codes.count {
                isRunning[index - first] = true
            }
        }
        for position in codes.indices where codes[position] == inProgress && !isRunning[position] {
            codes[position] = PhotoState.new.stateCode
        }
    }

    private static func shown(_ operation: OperationFacts, of batch: BatchFacts) -> [UInt8] {
        operation.stateCodes.map { code in
            // In a cancelled batch, `PhotoState` is `cancelled` for every photo that is not final.
            guard let state = PhotoState(stateCode: code, of: batch) else { return UInt8(ascii: "?") }
            return state == .new && operation.state == .executing ? inProgress : state.stateCode
        }
    }

    /// The states of a part of this window.
    func part(_ range: Range<Int>) -> StateWindow {
        let range = range.clamped(to: first..<first + codes.count)
        return StateWindow(
            first: range.lowerBound, codes: Array(codes[range.lowerBound - first..<range.upperBound - first]))
    }

    /// The parts of this window that differ from an earlier window of the same range. Differences that are close to each
    /// other are one part.
    func changes(since earlier: StateWindow) -> [StateWindow] {
        guard earlier.first == first else { return [self] }
        var changed: [Range<Int>] = []
        for position in codes.indices
        where position >= earlier.codes.count || codes[position] != earlier.codes[position] {
            if let last = changed.last, position - last.upperBound < 16 {
                changed[changed.count - 1] = last.lowerBound..<position + 1
            } else {
                changed.append(position..<position + 1)
            }
        }
        return changed.map { StateWindow(first: first + $0.lowerBound, codes: Array(codes[$0])) }
    }

    var json: JSON { ["first": .int(first), "states": .string(PhotoState.text(ofStateCodes: codes))] }
}
