/// The endings of file names that stand for pictures.
package enum ImageEnding {
    private static let known = ["jpg", "jpeg", "png", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff", "gif"]

    /// How many bytes at the end of `name` are a picture's ending with its dot, in any case; 0 without one.
    ///
    /// A name that is nothing but an ending, such as `.jpg`, has none.
    package static func length(of name: some BidirectionalCollection<UInt8>) -> Int {
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

    /// Finds out whether the names of a list make different files on every file system. Windows shares and macOS treat names
    /// that differ only in case or in Unicode composition as equal.
    package struct Names {
        private var names = Distinct()
        private var stems = Distinct()
        private var haveEndings = false

        /// No names.
        package init() {}

        /// Takes the next name.
        package mutating func add(_ name: UnsafeRawBufferPointer) {
            let length = ImageEnding.length(of: name)
            if length > 0 { haveEndings = true }
            names.add(name[...])
            stems.add(name.dropLast(length))
        }

        /// True when no two names differ only in case or composition.
        package var namesAreDistinct: Bool { names.areDistinct }
        /// True when the same holds of the names without their endings, and some have one.
        package var stemsAreDistinct: Bool { stems.areDistinct && haveEndings }
    }

    /// A set of names that is dropped at the first name that is in it already.
    private struct Distinct {
        private var folded: Set<String> = []
        private(set) var areDistinct = true

        mutating func add(_ name: Slice<UnsafeRawBufferPointer>) {
            // Two Strings are equal when they are canonically equivalent, however they are composed.
            guard areDistinct, !folded.insert(String(decoding: name, as: UTF8.self).lowercased()).inserted else {
                return
            }
            areDistinct = false
            folded = []
        }
    }
}
