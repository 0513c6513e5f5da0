import DarkroomFiles
import DarkroomModel
import DarkroomText
import Foundation

/// A folder as a photo list: the files with a picture's extension, sorted by the bytes of their relative paths.
///
/// Hidden files and folders are skipped. Subfolders are read if ``ListOptions/isRecursive`` is true. Symbolic links to
/// folders are not followed, so that there are no cycles.
struct PhotoFolder {
    struct Skipped {
        var folders = 0
        var files = 0
    }

    let path: [UInt8]
    private(set) var skipped = Skipped()
    private var names: [[UInt8]] = []

    init(path: String, _ options: ListOptions) throws(PhotoListError) {
        guard let real = Path.realBytes(path) else { throw Self.failure(path, errno) }
        self.path = real
        var exception = stat()
        let hasException = options.except.map { stat($0, &exception) == 0 } ?? false
        var folders: [[UInt8]] = [[]]
        while let folder = folders.popLast() {
            for (name, status) in try read(folder) {
                let isException = hasException && (status.st_dev, status.st_ino) == (exception.st_dev, exception.st_ino)
                if options.isRecursive, !isException { folders.append(name) } else { skipped.folders += 1 }
            }
        }
        names.sort { $0.lexicographicallyPrecedes($1) }
    }

    /// Passes each photo to `receive`. The name of a photo is its path relative to the folder. In a name that is not UTF-8,
    /// the invalid bytes are percent-encoded.
    func read(_ receive: PhotoListReceiver) {
        let url = PhotoURL.file(path: path + [UInt8(ascii: "/")])
        var taken: Set<[UInt8]>?
        for name in names {
            let encoded = PhotoURL.encoded(path: name, after: url)
            guard String(validating: name, as: UTF8.self) == nil else {
                Self.pass(name, encoded, to: receive)
                continue
            }
            // Another file may have the encoded name.
            var all = taken ?? Set(names)
            var text = Self.encoded(name)
            while !all.insert(text).inserted { text = Array("%".utf8) + text }
            taken = all
            Self.pass(text, encoded, to: receive)
        }
    }

    private static func pass(_ name: [UInt8], _ url: [UInt8], to receive: PhotoListReceiver) {
        name.withUnsafeBytes { name in url.withUnsafeBytes { receive(ListEntry(name: name, url: $0)) } }
    }

    /// The name, in which the bytes that are not UTF-8 are percent-encoded.
    private static func encoded(_ name: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var rest = name[...]
        while !rest.isEmpty {
            let length = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
            if let length {
                text += rest.prefix(length)
            } else {
                PercentEncoding.append(rest[rest.startIndex], to: &text)
            }
            rest = rest.dropFirst(length ?? 1)
        }
        return text
    }

    /// Adds the photos in a folder, and returns its subfolders.
    private mutating func read(_ folder: [UInt8]) throws(PhotoListError) -> [(name: [UInt8], status: stat)] {
        let whole = path + (folder.isEmpty ? [] : [UInt8(ascii: "/")] + folder)
        let handle = (whole + [0]).withUnsafeBytes { bytes in
            opendir(bytes.bindMemory(to: CChar.self).baseAddress!)  // the path ends with a NUL byte
        }
        guard let handle else { throw Self.failure(String(decoding: whole, as: UTF8.self), errno) }
        defer { closedir(handle) }
        let entries: [[UInt8]]
        do throws(SystemFailure) {
            entries = try namesOfEntries(in: handle)
        } catch {
            throw Self.failure(String(decoding: whole, as: UTF8.self), error.error)
        }
        var subfolders: [(name: [UInt8], status: stat)] = []
        for name in entries {
            guard name.first != UInt8(ascii: "."), let (status, isLink) = Self.status(of: name, in: dirfd(handle))
            else {
                continue
            }
            let place = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
            switch status.st_mode & S_IFMT {
            case S_IFREG where ImageEnding.length(of: name) > 0: names.append(place)
            case S_IFDIR where !isLink: subfolders.append((place, status))
            case S_IFDIR: skipped.folders += 1
            default: skipped.files += 1
            }
        }
        return subfolders
    }

    /// The status of a file, or of the file to which a symbolic link points, and whether `name` is a link.
    private static func status(of name: [UInt8], in folder: Int32) -> (stat, isLink: Bool)? {
        var link = stat(), target = stat()
        let isThere = (name + [0]).withUnsafeBytes { bytes in
            let name = bytes.bindMemory(to: CChar.self).baseAddress!  // the name ends with a NUL byte
            return fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && fstatat(folder, name, &target, 0) == 0
        }
        return isThere ? (target, link.st_mode & S_IFMT == S_IFLNK) : nil
    }

    private static func failure(_ path: String, _ error: Int32) -> PhotoListError {
        PhotoListError(
            .unreadable,
            "the folder \(path) cannot be read (\(systemErrorText(error))); check its permissions")
    }
}
