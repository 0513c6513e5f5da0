/// Receives one entry of a list: name and URL, as bytes that are valid only during the call.
package typealias PhotoListReceiver = (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Void

/// An entry of a photo list: a name and a URL. The URL may be invalid.
package struct PhotoListEntry: Sendable, Hashable {
    /// The name from the list, or from the URL.
    package let name: String
    package let url: String

    package init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    /// Creates an entry from bytes. Bytes that are not valid UTF-8 are replaced.
    package init(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) {
        self.init(name: String(decoding: name, as: UTF8.self), url: String(decoding: url, as: UTF8.self))
    }

    /// Passes the bytes of the entry to `receive`.
    func pass(to receive: PhotoListReceiver) {
        var (name, url) = (name, url)
        name.withUTF8 { name in
            url.withUTF8 { receive(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer($0)) }
        }
    }
}
