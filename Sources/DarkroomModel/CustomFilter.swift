/// The filter that names an operation of one's own: `x:NAME`, where a program registered an operation of that name with
/// its worker. It is the only filter of its batch.
package enum CustomFilter {
    /// What such a filter begins with.
    package static let prefix = "x:"

    /// The name in `x:NAME`; nil for any other filter, and for one whose name is none.
    package static func name(of filter: String) -> String? {
        guard filter.hasPrefix(prefix) else { return nil }
        let name = String(filter.dropFirst(prefix.count))
        return isName(name) ? name : nil
    }

    /// Whether an operation may be called so: one to 64 of `A-Z a-z 0-9 _ -`.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
            }
    }

    /// The name of the operation that the filters of a batch ask for; nil when they are the filters of Darkroom.
    /// - Throws: ``InvalidCustomFilter`` when a filter begins with `x:` and names none, or is not the only one.
    package static func name(in filters: [String]) throws(InvalidCustomFilter) -> String? {
        guard let filter = filters.first(where: { $0.hasPrefix(prefix) }) else { return nil }
        guard let name = name(of: filter) else {
            throw InvalidCustomFilter(
                description: "filter \"\(filter)\": write x: and the name under which your program registered its "
                    + "operation, 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        guard filters.count == 1 else {
            throw InvalidCustomFilter(
                description: "filter \"\(filter)\": an operation of your own takes the place of all filters; leave out "
                    + "the others")
        }
        return name
    }
}

/// A filter `x:NAME` that cannot be.
package struct InvalidCustomFilter: Error, Equatable, CustomStringConvertible {
    /// The whole sentence.
    package let description: String

    /// An error with its whole sentence.
    package init(description: String) { self.description = description }
}
