/// The columns of a table that the user gives, by name in the header or by number from 1.
package struct ListColumns: Sendable, Equatable {
    /// The column of the URLs; nil to find it.
    package var url: String?
    /// The column of the names; nil to find it.
    package var name: String?

    package init(url: String? = nil, name: String? = nil) {
        self.url = url
        self.name = name
    }
}
