import DarkroomModel

/// Receives one entry of a list.
package typealias PhotoListReceiver = (ListEntry) -> Void

/// A copy of a ``ListEntry`` as text.
package struct PhotoListEntry: Sendable, Hashable {
    package let name: String
    package let url: String

    package init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    /// Copies an entry. Bytes that are not valid UTF-8 are replaced.
    package init(_ entry: ListEntry) {
        self.init(name: String(decoding: entry.name, as: UTF8.self), url: String(decoding: entry.url, as: UTF8.self))
    }
}

extension ListEntry {
    /// Passes an entry to `receive`. The name of the entry is taken from its URL.
    static func pass(
        _ url: UnsafeRawBufferPointer, line: Int? = nil, _ scratch: inout PhotoURL.Scratch,
        to receive: PhotoListReceiver
    ) {
        PhotoURL.withName(of: url, &scratch) { receive(ListEntry(name: $0, url: url, line: line)) }
    }
}
