/// What takes the entries of a list as they are read: name and URL, as bytes that are valid during the call only.
package typealias PhotoListReceiver = (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Void

/// One entry of a photo list: a name and what stands there as its URL, which may be no URL at all.
package struct PhotoListEntry: Sendable, Hashable {
    /// The name as the list has it, or taken from the URL.
    package let name: String
    /// The URL as the list has it.
    package let url: String

    /// An entry of these texts.
    package init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    /// An entry of these bytes; what is no UTF-8 is replaced.
    package init(name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) {
        self.init(name: String(decoding: name, as: UTF8.self), url: String(decoding: url, as: UTF8.self))
    }
}
