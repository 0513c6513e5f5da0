import Foundation

/// A whole property list, XML or binary: a dictionary name -> URL, or an array of URLs.
struct PropertyListParser {
    /// True for a dictionary: its keys, and so the names, are unique.
    let isDictionary: Bool
    private let entries: [PhotoListEntry]

    /// The entries of a property list; a dictionary's by the UTF-8 bytes of their names, since it has no order.
    init(_ bytes: [UInt8]) throws(PhotoListError) {
        if let problem = BinaryPropertyList(bytes)?.problem() { throw Self.damaged(problem) }
        let root: Any
        var format = PropertyListSerialization.PropertyListFormat.xml
        do {
            root = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
        } catch {
            throw Self.damaged(Self.reason(error))
        }
        // What is neither XML nor binary may still be read as the oldest format, in which a word is a string.
        guard format != .openStep else { throw Self.damaged("the data has no end mark") }
        switch root {
        case let dictionary as [String: Any]:
            isDictionary = true
            entries = dictionary.map { PhotoListEntry(name: $0.key, url: Self.url($0.value)) }
                .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        case let array as [Any]:
            isDictionary = false
            entries = array.map { value in
                let url = Self.url(value)
                return PhotoListEntry(name: PhotoURL.name(of: url), url: url)
            }
        default:
            throw PhotoListError(
                .notAList,
                "the property list is \(Self.kind(root)), expected a dictionary (name, URL) or an array of URLs")
        }
    }

    /// Hands on the entries.
    func parse(_ receive: PhotoListReceiver) {
        for entry in entries {
            var name = entry.name, url = entry.url
            name.withUTF8 { name in
                url.withUTF8 { receive(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer($0)) }
            }
        }
    }

    /// A value's URL, or for a value of another kind a text that says what was found and fails.
    private static func url(_ value: Any) -> String {
        guard let url = value as? String else { return "\(kind(value)) in place of a URL" }
        return url.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func kind(_ value: Any) -> String {
        switch value {
        case is String: "a string"
        case is [String: Any]: "a dictionary"
        case is [Any]: "an array"
        case is Data: "data"
        case is Date: "a date"
        case let number as NSNumber: "the number \(number)"
        // Its description may be another each time.
        default: "a value of another kind"
        }
    }

    private static func damaged(_ reason: String) -> PhotoListError {
        PhotoListError(.damaged, "the property list is damaged or ends too early (\(reason))")
    }

    private static func reason(_ error: any Error) -> String {
        (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    }
}
