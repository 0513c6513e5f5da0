/// An entry of a photo list, as bytes that are valid only during the call that receives the entry.
///
/// A receiver passes the entry on, or copies the bytes that it keeps. If lists get other columns than URL and name,
/// these columns become properties of this type.
package struct ListEntry {
    /// The name from the list, or from the URL.
    package let name: UnsafeRawBufferPointer
    /// The URL, which may be invalid.
    package let url: UnsafeRawBufferPointer
    /// The line on which the entry begins, from 1; nil if the format of the list is not divided into lines.
    package let line: Int?

    package init(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, line: Int? = nil) {
        self.name = name
        self.url = url
        self.line = line
    }

    /// Calls `body` with an entry that has the bytes of these texts.
    package static func with<Result>(
        name: String, url: String, line: Int? = nil, _ body: (ListEntry) throws -> Result
    ) rethrows -> Result {
        var (name, url) = (name, url)
        return try name.withUTF8 { name in
            try url.withUTF8 { url in
                try body(ListEntry(name: UnsafeRawBufferPointer(name), url: UnsafeRawBufferPointer(url), line: line))
            }
        }
    }
}
