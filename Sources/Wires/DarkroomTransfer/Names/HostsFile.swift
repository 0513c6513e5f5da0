import DarkroomFiles
import DarkroomText
import Foundation

/// The host names and addresses in `/etc/hosts`, see hosts(5). The file is read again when it has changed.
struct HostsFile {
    private static let maxBytes = 16 << 20

    private let path: String
    private var stamp: FileStamp?
    private var addresses: [String: [IPAddress]] = [:]

    init(path: String = "/etc/hosts") { self.path = path }

    /// The addresses of `name` in the order of the file; empty if the file does not contain the name.
    /// - Parameter name: the host name in lower case.
    mutating func addresses(of name: String) -> [IPAddress] {
        let found = FileStamp(path: path)
        if found != stamp {
            stamp = found
            addresses = found == nil ? [:] : Self.read(path)
        }
        return addresses[name] ?? []
    }

    /// Returns no names if the file cannot be read. Like glibc, the resolver then looks up all names by DNS.
    private static func read(_ path: String) -> [String: [IPAddress]] {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: maxBytes) else {
            return [:]
        }
        return parse(String(decoding: data, as: UTF8.self))
    }

    /// Parses the file. Like glibc, ignores lines without a valid address.
    static func parse(_ text: String) -> [String: [IPAddress]] {
        var addresses: [String: [IPAddress]] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, let address = IPAddress(first.prefix { $0 != "%" }) else { continue }
            for name in words.dropFirst() { addresses[name.lowercased(), default: []].append(address) }
        }
        return addresses
    }
}
