/// The file name extensions of pictures.
package enum ImageEnding {
    private static let known = ["jpg", "jpeg", "png", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff", "gif"]

    /// The length in bytes of a picture's extension, with its dot, in upper or lower case; 0 if `name` has no such
    /// extension.
    ///
    /// The name `.jpg` has no extension.
    package static func length(of name: some BidirectionalCollection<UInt8>) -> Int {
        for ending in known {
            let tail = name.suffix(ending.utf8.count + 1)
            guard tail.first == UInt8(ascii: "."), tail.startIndex > name.startIndex else { continue }
            // Setting bit 5 converts ASCII letters to lower case. It does not convert any other byte to a letter.
            if tail.dropFirst().elementsEqual(ending.utf8, by: { $0 | 0x20 == $1 && Byte.isLetter($0) }) {
                return tail.count
            }
        }
        return 0
    }

    /// Checks whether all names of a list are distinct as file names on every file system. Windows shares and macOS
    /// treat names that differ only in case or Unicode composition as equal.
    package struct Names {
        private var names = Distinct()
        private var stems = Distinct()
        private var haveEndings = false

        package init() {}

        package mutating func add(_ name: UnsafeRawBufferPointer) {
            let length = ImageEnding.length(of: name)
            if length > 0 { haveEndings = true }
            names.add(name[...])
            stems.add(name.dropLast(length))
        }

        /// True if no two names are equal when case and Unicode composition are ignored.
        package var namesAreDistinct: Bool { names.areDistinct }
        /// True if the names are distinct even without their extensions, and some names have an extension.
        package var stemsAreDistinct: Bool { stems.areDistinct && haveEndings }
    }

    /// A set of names, which is emptied when the first duplicate is found.
    private struct Distinct {
        private var folded: Set<String> = []
        private(set) var areDistinct = true

        mutating func add(_ name: Slice<UnsafeRawBufferPointer>) {
            // Swift compares strings by canonical equivalence, so composed and decomposed characters are equal.
            guard areDistinct, !folded.insert(String(decoding: name, as: UTF8.self).lowercased()).inserted else {
                return
            }
            areDistinct = false
            folded = []
        }
    }
}
