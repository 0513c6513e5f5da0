import DarkroomModel

/// Checks whether all names of a list are distinct as file names on every file system. Windows shares and macOS
/// treat names that differ only in case or Unicode composition as equal.
struct ListNames {
    private var names = Distinct()
    private var stems = Distinct()
    private var haveEndings = false

    mutating func add(_ name: UnsafeRawBufferPointer) {
        let length = ImageEnding.length(of: name)
        if length > 0 { haveEndings = true }
        names.add(name[...])
        stems.add(name.dropLast(length))
    }

    /// True if no two names are equal when case and Unicode composition are ignored.
    var namesAreDistinct: Bool { names.areDistinct }
    /// True if the names are distinct even without their extensions, and some names have an extension.
    var stemsAreDistinct: Bool { stems.areDistinct && haveEndings }
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
