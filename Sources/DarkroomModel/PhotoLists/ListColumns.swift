/// The columns of a table that its user names: by what the header calls them, or by their numbers from 1.
package struct ListColumns: Sendable, Equatable {
    /// The column of the URLs; nil finds it.
    package var url: String?
    /// The column of the names; nil finds it.
    package var name: String?

    /// Columns; none are named by default.
    package init(url: String? = nil, name: String? = nil) {
        self.url = url
        self.name = name
    }
}
