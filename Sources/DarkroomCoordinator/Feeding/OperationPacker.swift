import DarkroomCoding
import DarkroomModel
import DarkroomStore

/// An operation as it is fed.
struct PackedOperation: Sendable {
    let number: Int
    let photos: Int
    /// A version byte and the deflated lines, see `EntryCoding`.
    let entry: [UInt8]
    /// The chained digest of the feed up to and with this operation, hexadecimal.
    let digest: String
}

/// Packs the photos of a list into operations, in the list's order, and chains their digest.
///
/// The digest of an operation is SHA-256 of the digest before (32 bytes, none for the first) and its entry before deflating:
/// two lists have the same digest after the same operation exactly when all entries up to there are the same.
/// One thread at a time may use it.
struct OperationPacker {
    /// The most photos an operation has.
    let size: Int
    /// The number of the operation that is being filled, from 1.
    private(set) var number = 1
    /// Photos in it so far.
    private(set) var photos = 0

    private var entry: [UInt8] = []
    private var lastDigest: [UInt8] = []
    private let hash = SHA256Digest()
    private let deflater = Deflater()

    init(size: Int) { self.size = size }

    /// True when the operation takes no further photo.
    var isFull: Bool { photos == size }

    /// Adds a photo to the operation, which must not be full.
    mutating func append(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) {
        OperationEntry.append(name: name, url: url, operationSize: size, to: &entry)
        photos += 1
    }

    /// The operation as it is fed; the next one begins.
    mutating func pack() -> PackedOperation {
        let packed = PackedOperation(
            number: number, photos: photos, entry: [EntryCoding.version] + deflater.compress(entry), digest: digest())
        begin()
        return packed
    }

    /// The digest of the operation, which Redis has already; the next one begins.
    mutating func skip() -> String {
        let digest = digest()
        begin()
        return digest
    }

    /// The digest of the feed up to the last photo, as if the operation ended there.
    var digestSoFar: String { Hexadecimal.text(sum()) }

    private mutating func digest() -> String {
        lastDigest = sum()
        return Hexadecimal.text(lastDigest)
    }

    private func sum() -> [UInt8] {
        hash.update(lastDigest)
        hash.update(entry)
        return hash.finalize()
    }

    private mutating func begin() {
        number += 1
        photos = 0
        entry.removeAll(keepingCapacity: true)
    }
}
