import DarkroomCoding
import DarkroomModel

/// An operation that is ready to be fed.
struct PackedOperation: Sendable {
    let number: Int
    let photos: Int
    /// The photos, packed (see `OperationEntry`).
    let entry: [UInt8]
    /// The chained digest of all operations up to and including this operation, in hexadecimal.
    let digest: String
}

/// Packs the photos of a list into operations, in the order of the list, and chains their digests.
///
/// The digest of an operation is the SHA-256 of the previous digest (32 bytes; nothing for the first operation)
/// followed by the text of the operation's entry. Two lists have the same digest at an operation if and only if
/// all their entries up to this operation are equal. Only one thread at a time may use a packer.
struct OperationPacker {
    /// The number of the current operation, counted from 1.
    private(set) var number = 1
    /// The number of photos in the current operation so far.
    private(set) var photos = 0

    private var entry: OperationEntry
    private var lastDigest: [UInt8] = []
    private let hash = SHA256Digest()
    private let deflater = Deflater()

    /// - Parameter size: the maximum number of photos in an operation.
    init(size: Int) { entry = OperationEntry(operationSize: size) }

    /// True if no more photos can be added to the current operation.
    var isFull: Bool { photos == entry.operationSize }

    /// Adds a photo to the current operation, which must not be full.
    mutating func append(_ photo: ListEntry) {
        entry.append(photo)
        photos += 1
    }

    /// Returns the current operation, and begins the next operation.
    mutating func pack() -> PackedOperation {
        let packed = PackedOperation(
            number: number, photos: photos, entry: entry.packed(by: deflater), digest: digest())
        begin()
        return packed
    }

    /// Returns the digest of the current operation, which Redis already has, and begins the next operation.
    mutating func skip() -> String {
        let digest = digest()
        begin()
        return digest
    }

    /// The chained digest up to the last photo, as if the current operation ended there.
    var digestSoFar: String { Hexadecimal.text(sum()) }

    private mutating func digest() -> String {
        lastDigest = sum()
        return Hexadecimal.text(lastDigest)
    }

    private func sum() -> [UInt8] {
        hash.update(lastDigest)
        hash.update(entry.text)
        return hash.finalize()
    }

    private mutating func begin() {
        number += 1
        photos = 0
        entry.removeAll()
    }
}
