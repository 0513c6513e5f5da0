/// The file name extensions of pictures.
@usableFromInline package enum ImageEnding {
    @usableFromInline static let known = [
        "jpg", "jpeg", "png", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff", "gif",
    ]

    /// The length in bytes of a picture's extension, with its dot, in upper or lower case; 0 if `name` has no such
    /// extension.
    ///
    /// The name `.jpg` has no extension.
    @inlinable package static func length(of name: some BidirectionalCollection<UInt8>) -> Int {
        for ending in known {
            let tail = name.suffix(ending.utf8.count + 1)
            guard tail.first == UInt8(ascii: "."), tail.startIndex > name.startIndex else { continue }
            // Setting bit 5 converts ASCII letters to lower case, and converts no other byte to a letter.
            if tail.dropFirst().elementsEqual(ending.utf8, by: { $0 | 0x20 == $1 && Byte.isLetter($0) }) {
                return tail.count
            }
        }
        return 0
    }
}
