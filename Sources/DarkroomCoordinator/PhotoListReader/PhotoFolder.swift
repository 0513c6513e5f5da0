import DarkroomModel
import Foundation

/// A folder as a photo list: the files in it that end like a picture's, by the bytes of their names.
///
/// Hidden files and subfolders are left out, so that an output folder within the photos' folder never becomes part of
/// the list.
struct PhotoFolder {
    private let path: [UInt8]
    private let names: [[UInt8]]

    /// The photos in the folder at `path`.
    init(path: String) throws(PhotoListError) {
        guard let resolved = realpath(path, nil) else { throw Self.failure() }
        self.path = Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
        free(resolved)
        guard let folder = opendir(path) else { throw Self.failure() }
        defer { closedir(folder) }
        var names: [[UInt8]] = []
        while let entry = readdir(folder) {
            let name = Self.name(entry)
            guard name.first != UInt8(ascii: "."), ImageEnding.length(of: name) > 0 else { continue }
            if Self.isFile(name, in: dirfd(folder)) { names.append(name) }
        }
        self.names = names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Hands on the photos, each under its file's name.
    func read(_ receive: PhotoListReceiver) {
        let url = PhotoURL.file(path: path + [UInt8(ascii: "/")])
        for name in names {
            // Of the path of a single name only the encoding is wanted.
            let encoded = url + PhotoURL.file(path: name).dropFirst("file://".utf8.count)
            name.withUnsafeBytes { name in encoded.withUnsafeBytes { receive(name, $0) } }
        }
    }

    private static func name(_ entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
        withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
    }

    private static func isFile(_ name: [UInt8], in folder: Int32) -> Bool {
        var information = stat()
        let status = (name + [0]).withUnsafeBytes { bytes in
            fstatat(folder, bytes.bindMemory(to: CChar.self).baseAddress!, &information, 0)  // the name ends in 0
        }
        return status == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    private static func failure() -> PhotoListError {
        PhotoListError(
            .unreadable, "the folder cannot be read (\(String(cString: strerror(errno)))); check its permissions")
    }
}
