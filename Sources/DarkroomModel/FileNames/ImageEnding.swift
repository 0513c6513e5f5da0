/// The endings of file names that stand for pictures.
public enum ImageEnding {
    private static let known = ["jpg", "jpeg", "png", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff", "gif"]

    /// How many bytes at the end of `name` are a picture's ending with its dot, in any case; 0 without one.
    ///
    /// A name that is nothing but an ending, such as `.jpg`, has none.
    public static func length(of name: some BidirectionalCollection<UInt8>) -> Int {
        for ending in known {
            let tail = name.suffix(ending.utf8.count + 1)
            guard tail.first == UInt8(ascii: "."), tail.startIndex > name.startIndex else { continue }
            // Setting bit 5 makes ASCII letters small, and makes no other byte one.
            if tail.dropFirst().elementsEqual(ending.utf8, by: { $0 | 0x20 == $1 && Byte.isLetter($0) }) {
                return tail.count
            }
        }
        return 0
    }

    /// Finds out whether names that are unique still are without their endings.
    public struct Names {
        private var stems: Set<[UInt8]> = []
        private var areUnique = true
        private var haveEndings = false

        /// No names.
        public init() {}

        /// Takes the next name.
        public mutating func add(_ name: UnsafeRawBufferPointer) {
            let length = ImageEnding.length(of: name)
            if length > 0 { haveEndings = true }
            if areUnique, !stems.insert(Array(name.dropLast(length))).inserted {
                areUnique = false
                stems = []
            }
        }

        /// True when no two are the same without their endings, and some have one.
        public var stemsAreUnique: Bool { areUnique && haveEndings }
    }
}
