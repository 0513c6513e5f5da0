/// The filter text of a custom operation: `x:NAME`. A program registers the operation with its worker under this name.
/// A custom operation must be the only filter of its batch.
package enum CustomFilter {
    package static let prefix = "x:"

    /// The name in `x:NAME`; nil for any other filter, and for an invalid name.
    package static func name(of filter: String) -> String? {
        guard filter.hasPrefix(prefix) else { return nil }
        let name = String(filter.dropFirst(prefix.count))
        return isName(name) ? name : nil
    }

    /// Whether a name is valid: 1 to 64 of the characters `A-Z a-z 0-9 _ -`.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { Byte.isAlphanumeric($0) || "_-".utf8.contains($0) }
    }

    /// The name of the custom operation in the filters of a batch; nil if the batch uses only filters of Darkroom.
    /// - Throws: ``InvalidCustomFilter`` if a filter `x:NAME` has an invalid name, or is not the only filter.
    package static func name(in filters: [String]) throws(InvalidCustomFilter) -> String? {
        guard let filter = filters.first(where: { $0.hasPrefix(prefix) }) else { return nil }
        guard let name = name(of: filter) else {
            throw InvalidCustomFilter(
                description: "filter \"\(filter)\": write x: and the name under which your program registered its "
                    + "operation, 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        guard filters.count == 1 else {
            throw InvalidCustomFilter(
                description: "filter \"\(filter)\": a custom operation takes the place of all filters; leave out "
                    + "the others")
        }
        return name
    }
}

/// An invalid filter `x:NAME`.
package struct InvalidCustomFilter: Error, Equatable, CustomStringConvertible {
    package let description: String

    /// Creates an error with its complete message.
    package init(description: String) { self.description = description }
}
