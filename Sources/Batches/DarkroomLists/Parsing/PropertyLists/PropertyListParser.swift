import DarkroomModel
import Foundation

/// A property list, XML or binary: a dictionary that maps names to URLs, or an array of URLs.
struct PropertyListParser {
    /// True for a dictionary: its keys are unique, so the names of the photos are unique.
    let isDictionary: Bool
    private let content: Content

    private enum Content {
        case binary(BinaryPropertyList)
        case xml([PhotoListEntry])
    }

    /// Reads a property list. A dictionary has no order, so its entries are sorted by the UTF-8 bytes of their names.
    /// - Parameter maxBytes: the maximum total length of all texts in a binary list.
    init(_ bytes: [UInt8], maxBytes: Int) throws(PhotoListError) {
        do throws(BinaryPropertyList.Problem) {
            if let list = try BinaryPropertyList(bytes, maxBytes: maxBytes) {
                (isDictionary, content) = (list.isDictionary, .binary(list))
                return
            }
        } catch {
            throw Self.error(error)
        }
        let root: Any
        var format = PropertyListSerialization.PropertyListFormat.xml
        do {
            root = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
        } catch {
            throw Self.damaged(Self.reason(error))
        }
        // Foundation reads data that is neither an XML nor a binary property list as an OpenStep property list, in
        // which any word is a string.
        guard format != .openStep else { throw Self.damaged("the data has no end mark") }
        switch root {
        case let dictionary as [String: Any]:
            isDictionary = true
            content = .xml(
                dictionary.map { PhotoListEntry(name: $0.key, url: Self.url($0.value)) }
                    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        case let array as [Any]:
            isDictionary = false
            content = .xml(
                array.map { value in
                    let url = Self.url(value)
                    return PhotoListEntry(name: PhotoURL.name(of: url), url: url)
                })
        default: throw Self.error(.notAList(Self.kind(root)))
        }
    }

    func parse(_ receive: PhotoListReceiver) throws(PhotoListError) {
        switch content {
        case .binary(let list):
            do throws(BinaryPropertyList.Problem) { try list.parse(receive) } catch { throw Self.error(error) }
        case .xml(let entries):
            for entry in entries { ListEntry.with(name: entry.name, url: entry.url, receive) }
        }
    }

    /// The URL of a value. If the value is not a string, returns a description of the value, which is not a valid URL.
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
        // The text does not describe the value, because the description could differ when the list is read again.
        default: "a value of another kind"
        }
    }

    private static func error(_ problem: BinaryPropertyList.Problem) -> PhotoListError {
        switch problem {
        case .damaged(let what): damaged(what)
        case .notAList(let what):
            PhotoListError(
                .notAList, "the property list is \(what), expected a dictionary (name, URL) or an array of URLs")
        case .tooLarge(let bytes):
            PhotoListError(
                .tooLarge,
                "the property list refers to the same texts so often that its entries have more than \(bytes) bytes; "
                    + "write it as CSV or JSONL (one entry per line), which are read piece by piece")
        }
    }

    private static func damaged(_ reason: String) -> PhotoListError {
        PhotoListError(.damaged, "the property list is damaged or ends too early (\(reason))")
    }

    private static func reason(_ error: any Error) -> String {
        (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    }
}
