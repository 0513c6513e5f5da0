/// Decodes the body of an HTTP response that has content codings, part by part and in bounded memory.
///
/// DESIGN. libcurl could decode a body, but it accepts a body that ends too early. While a transfer is paused, libcurl
/// also keeps the decoded bytes of its read buffer. The decoded bytes may need more than a thousand times the space of
/// the buffer. libcurl also fails for a coding that it does not know, and for a picture without the coding that the
/// server names.
///
/// The caller pulls the decoded bytes in blocks. The decoder decodes a block when the caller asks for the block. For
/// each coding, the decoder keeps one block in memory. A small body may decode to a very large body, whose blocks take
/// no memory before the caller asks for them.
///
/// Only one thread at a time may use a decoder.
package final class ContentDecoder {
    /// The largest number of codings. libcurl has the same limit.
    package static let mostCodings = 5
    private static let blockBytes = 16 << 10

    private let layers: [Layer]
    private let maxBytes: Int
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameters:
    ///   - codings: the codings in the order in which they were applied; not empty.
    ///   - maxBytes: the largest number of bytes that each coding may decode to.
    /// - Throws: ``CodingError`` if there are too many codings, or too little memory.
    package init(_ codings: [ContentCoding], maxBytes: Int) throws(CodingError) {
        guard codings.count <= Self.mostCodings else {
            throw CodingError(code: .damaged, message: "has more than \(Self.mostCodings) content codings")
        }
        self.maxBytes = maxBytes
        mostMemory = codings.reduce(0) { $0 + Self.blockBytes + $1.mostMemory }
        layers = codings.reversed().map { Layer($0, blockBytes: Self.blockBytes) }
    }

    /// The maximum number of bytes that the decoder allocates, most of them only when ``next()`` is called.
    package let mostMemory: Int

    /// Adds the next part of the coded body. The caller must have taken all blocks of the previous part, and must keep
    /// the bytes valid until ``next()`` has returned an empty block.
    package func add(_ bytes: UnsafeRawBufferPointer) { input = bytes }

    /// The number of bytes of the last added part that are not decoded yet.
    package var left: Int { input.count }

    /// The next block of the decoded body. Further calls return the same block until ``take()`` is called. The block is
    /// empty if the decoder needs the next part of the coded body.
    package func next() throws(CodingError) -> UnsafeRawBufferPointer {
        guard let last = layers.indices.last, try fill(last) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return layers[last].block
    }

    /// Takes the block that ``next()`` has returned.
    package func take() { layers.last?.drop(.max) }

    /// Tells the decoder that the coded body has ended. After this call, ``next()`` may still return blocks.
    package func end() { for layer in layers { layer.isEnding = true } }

    /// Whether all codings are complete. If not, the coded body has ended too early.
    package var isComplete: Bool { layers.allSatisfy { $0.decoder?.isFinished ?? true } }

    /// Returns whether the layer has a block.
    private func fill(_ index: Int) throws(CodingError) -> Bool {
        let layer = layers[index]
        while layer.block.isEmpty {
            let bytes: UnsafeRawBufferPointer
            if index == 0 {
                bytes = input
            } else {
                bytes = try fill(index - 1) ? layers[index - 1].block : UnsafeRawBufferPointer(start: nil, count: 0)
            }
            guard let read = try layer.decode(bytes) else { return false }
            if index == 0 {
                input = UnsafeRawBufferPointer(rebasing: input[read...])
            } else {
                layers[index - 1].drop(read)
            }
            guard layer.total <= maxBytes else {
                throw CodingError(code: .tooLarge, message: "has more than \(maxBytes) bytes when it is decoded")
            }
        }
        return true
    }
}

/// One coding of a body.
private final class Layer {
    /// Nil until the layer has received the first bytes.
    private(set) var decoder: (any StreamDecoder)?
    /// The number of decoded bytes.
    private(set) var total = 0
    var isEnding = false
    private let coding: ContentCoding
    private var head: [UInt8] = []
    private let buffer: UnsafeMutableRawBufferPointer
    private var range = 0..<0

    init(_ coding: ContentCoding, blockBytes: Int) {
        self.coding = coding
        buffer = .allocate(byteCount: blockBytes, alignment: 16)
    }

    deinit { buffer.deallocate() }

    var block: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[range]) }

    /// Removes bytes from the beginning of the block.
    func drop(_ count: Int) { range = range.lowerBound + min(count, range.count)..<range.upperBound }

    /// Decodes a block.
    /// - Returns: the number of bytes that were read; nil if the layer needs more bytes.
    func decode(_ bytes: UnsafeRawBufferPointer) throws(CodingError) -> Int? {
        guard let decoder else {
            let added = bytes.prefix(4 - head.count)
            head += added
            guard head.count == 4 || isEnding && !head.isEmpty else { return added.isEmpty ? nil : added.count }
            decoder = coding.mayBegin(with: head) ? try coding.makeDecoder() : PlainDecoder()
            return added.count
        }
        if !head.isEmpty {
            let result = head.withUnsafeBytes { bytes in Result { () throws(CodingError) in try run(decoder, bytes) } }
            guard let read = try result.get() else { return nil }
            head.removeFirst(read)
            return 0
        }
        return try run(decoder, bytes)
    }

    private func run(_ decoder: any StreamDecoder, _ bytes: UnsafeRawBufferPointer) throws(CodingError) -> Int? {
        let (read, written) = try decoder.decode(bytes, into: buffer)
        range = 0..<written
        total += written
        return read == 0 && written == 0 ? nil : read
    }
}
