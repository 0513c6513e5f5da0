/// The columns that the user has chosen in a table, each by its name in the header or by its number from 1.
package struct ListColumns: Sendable, Equatable {
    /// The column of the URLs; nil: the column is detected.
    package var url: String?
    /// The column of the names; nil: the column is detected.
    package var name: String?

    package init(url: String? = nil, name: String? = nil) {
        self.url = url
        self.name = name
    }
}
