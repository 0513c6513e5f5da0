import DarkroomCoding
import DarkroomFileNames
import DarkroomFiles
import DarkroomModel
import Foundation

/// Reads a photo list from a file, standard input (`-`) or `http(s)://`, each optionally gzipped, or from a folder of photos.
///
/// Each call of ``next(_:)`` reads one piece, so memory does not grow with the list (except for JSON documents and property
/// lists, see `PhotoListParser`). One thread at a time may use a reader. It blocks.
package final class PhotoListReader {
    /// The bytes read at once: fewer if compressed, since decompression may yield a thousand times as many bytes.
    private static let pieceBytes = 256 << 10
    private static let compressedPieceBytes = 16 << 10

    /// The list's name in messages: its path or URL (without password and query), or `standard input`.
    package let name: String
    /// How many entries were passed on since the beginning.
    package private(set) var photos = 0

    private enum Source {
        case folder(PhotoFolder)
        case bytes(any ListBytes)
    }

    private let location: String
    private let options: ListOptions
    private let remark: @Sendable (String) -> Void
    private let source: Source
    private var entries: EntryReading
    /// The base folder of relative paths in the list.
    private let base: String?
    private var hasReportedConversion = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PhotoListReader.pieceBytes, alignment: 16)
    private var parser: PhotoListParser
    private var gzip: GzipReader?
    /// True until the first byte is read.
    private var isAtStart = true
    /// True if the parser has examined bytes whose entries are not passed on yet.
    private var hasExamined = false
    private var isEnded = false

    /// Opens a list and reads until its format is known. A property list is read to its end.
    ///
    /// Bytes that cannot be read again, for example from a pipe, are kept in a temporary file for `rewind`.
    /// - Parameters:
    ///   - location: a path, a URL, or `-` for standard input.
    ///   - options: how to read it.
    ///   - standardInput: the descriptor for `-`.
    ///   - remark: called with a sentence for everything that was skipped, converted or guessed.
    package init(
        _ location: String, _ options: ListOptions = ListOptions(), standardInput: Int32 = STDIN_FILENO,
        remark: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(PhotoListError) {
        self.location = location
        self.options = options
        self.remark = remark
        name = Self.displayName(location)
        base = Self.base(of: location)
        entries = EntryReading(folder: base)
        parser = PhotoListParser(listName: Self.fileName(location), columns: options.columns)
        do {
            source = try Self.open(location, options, standardInput)
            switch source {
            case .bytes(let bytes):
                try begin(bytes)
                if let guess = parser.guess { remark("photo list \(name): \(guess)") }
                if base != nil, parser.format?.isReadWhole == false { photosFolder = try folderOfFirstPath() }
            case .folder(let folder):
                photosFolder = String(decoding: folder.path, as: UTF8.self)
                report(folder.skipped)
            }
        } catch {
            throw error.about(name)
        }
    }

    deinit { buffer.deallocate() }

    package var format: PhotoListFormat {
        if case .folder = source { return .folder }
        return parser.format ?? .text  // `begin` has set it
    }

    /// True where no two photos can have the same name: in a property list's dictionary and in a folder.
    package var namesAreUnique: Bool { format == .folder || parser.namesAreUnique }

    /// The default file name template for this list.
    package var standardFileNameTemplate: String {
        FileNameTemplate.standard(
            for: format, namesAreDistinct: parser.namesAreDistinct, stemsAreDistinct: parser.stemsAreDistinct)
    }

    /// The file name template in `text`, or the default one for this list if `text` is nil.
    package func fileNameTemplate(_ text: String?) throws(FileNameTemplate.Problem) -> FileNameTemplate {
        try FileNameTemplate(
            text ?? standardFileNameTemplate, namesAreUnique: namesAreUnique, stemsAreUnique: parser.stemsAreDistinct)
    }

    /// The folder of local photos: the real path of a list that is a folder, or the folder of the first path of a list of
    /// paths; empty for other lists.
    package private(set) var photosFolder = ""

    /// The folder of the first entry of a streamed list; empty if that entry is no path.
    private func folderOfFirstPath() throws(PhotoListError) -> String {
        var path: [UInt8]?
        var isFirst = true
        var probe = parser  // a copy, so that `parser` still has the examined bytes
        try probe.parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: isEnded) { _, url in
            if isFirst { path = entries.path(url) }
            isFirst = false
        }
        guard let path, let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        let folder = URL(fileURLWithPath: String(decoding: path[...max(slash, 0)], as: UTF8.self))
        return folder.standardizedFileURL.path
    }

    private func report(_ skipped: PhotoFolder.Skipped) {
        guard skipped.folders + skipped.files > 0 else { return }
        func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let parts =
            (skipped.folders > 0 ? [count(skipped.folders, "subfolder")] : [])
            + (skipped.files > 0 ? [count(skipped.files, "file") + " without a picture's ending"] : [])
        let advice = skipped.folders > 0 && !options.isRecursive ? "; --recursive looks into subfolders" : ""
        remark("folder \(name): \(parts.joined(separator: " and ")) skipped\(advice)")
    }

    /// Remarks once that the list is not UTF-8.
    private func reportConversion() {
        guard entries.converted > 0, !hasReportedConversion else { return }
        hasReportedConversion = true
        remark(
            "photo list \(name): it has text that is not UTF-8, which is read as Windows-1252; to be sure, convert it first (iconv)"
        )
    }

    /// Reads the next entries, a few thousand at most if the list is streamed, and passes them to `receive`. Returns false at
    /// the end of the list.
    ///
    /// A list without photos is an error. After an error only `rewind` may be called.
    package func next(_ receive: PhotoListReceiver) throws(PhotoListError) -> Bool {
        var count = 0
        func counting(_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) {
            count += 1
            if case .folder = source { receive(name, url) } else { entries.read(name, url, receive) }
        }
        defer { photos += count }
        defer { reportConversion() }
        do throws(PhotoListError) {
            switch source {
            case .folder(let folder):
                folder.read(counting)
                isEnded = true
            case .bytes(let bytes) where !hasExamined:
                try readPiece(bytes) { [self] (piece, isLast) throws(PhotoListError) in
                    try parser.parse(piece, isLast: isLast, counting)
                }
            case .bytes:
                hasExamined = false
                try parser.parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: isEnded, counting)
            }
            if isEnded, photos + count == 0 { throw PhotoListError(.empty, Self.noPhotos(format)) }
        } catch {
            throw error.about(name)
        }
        return !isEnded
    }

    /// Goes back to the beginning, as if the list had just been opened.
    package func rewind() throws(PhotoListError) {
        photos = 0
        isAtStart = true
        isEnded = false
        gzip = nil
        let examinedBytes = parser.examinedBytes
        parser = PhotoListParser(listName: Self.fileName(location), columns: options.columns)
        parser.examinedBytes = examinedBytes
        guard case .bytes(let bytes) = source else { return }
        do {
            try bytes.rewind()
            try begin(bytes)
        } catch {
            throw error.about(name)
        }
    }

    /// Reads until the format is known.
    private func begin(_ bytes: any ListBytes) throws(PhotoListError) {
        var isKnown = false
        while !isKnown {
            try readPiece(bytes) { [self] (piece, isLast) throws(PhotoListError) in
                isKnown = try parser.examine(piece, isLast: isLast)
            }
            // If a pipe pauses, the bytes so far decide.
            if !isKnown, !isEnded, bytes.hasPaused() { isKnown = parser.decide() }
        }
        hasExamined = true
    }

    /// Reads once and passes the decompressed bytes to `body`; at the end an empty last piece.
    private func readPiece(
        _ bytes: any ListBytes, _ body: (UnsafeRawBufferPointer, Bool) throws(PhotoListError) -> Void
    ) throws(PhotoListError) {
        let piece = try read(bytes)
        guard piece.count > 0 else {
            isEnded = true
            do throws(CodingError) { try gzip?.finish() } catch { throw Self.damaged(error) }
            return try body(piece, true)
        }
        guard let gzip else { return try body(piece, false) }
        do {
            try gzip.read(piece) { try body($0, false) }
        } catch let error as PhotoListError {
            throw error
        } catch let error as CodingError {
            throw Self.damaged(error)
        } catch {
            throw PhotoListError(.unreadable, "\(error)")
        }
    }

    private func read(_ bytes: any ListBytes) throws(PhotoListError) -> UnsafeRawBufferPointer {
        let room = gzip == nil && !isAtStart ? Self.pieceBytes : Self.compressedPieceBytes
        var count = 0
        repeat {
            let step = try bytes.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<room]))
            count += step
            if step == 0 { break }
        } while isAtStart && count < 2  // the length of the gzip magic number
        let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        if isAtStart, GzipReader.isGzip(piece) { gzip = GzipReader() }
        isAtStart = false
        return piece
    }

    private static func open(
        _ location: String, _ options: ListOptions, _ standardInput: Int32
    ) throws(PhotoListError) -> Source {
        if location == "-" { return .bytes(try again(FileBytes(descriptor: standardInput))) }
        if isWeb(location) { return .bytes(try SpooledBytes(WebBytes(url: location))) }
        var information = stat()
        if stat(location, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
            return .folder(try PhotoFolder(path: location, options))
        }
        return .bytes(try again(FileBytes(path: location)))
    }

    /// The folder of a list file, or the working folder for standard input; nil for a list from the web.
    private static func base(of location: String) -> String? {
        if isWeb(location) { return nil }
        let folder =
            location == "-" ? "." : URL(fileURLWithPath: location).standardizedFileURL.deletingLastPathComponent().path
        return Path.real(folder)
    }

    private static func again(_ file: FileBytes) throws(PhotoListError) -> any ListBytes {
        file.canRewind ? file : try SpooledBytes(file)
    }

    private static func isWeb(_ location: String) -> Bool {
        let start = location.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// The list's name in messages: its path, its URL without secret parts, or `standard input`.
    package static func displayName(_ location: String) -> String {
        if location == "-" { return "standard input" }
        // A URL may contain blanks; a path may contain a mistyped URL.
        return isWeb(location) ? PhotoURL.redacted(location) : PhotoURL.redacting(location)
    }

    private static func fileName(_ location: String) -> String {
        isWeb(location)
            ? PhotoURL.name(of: location) : Path.split(location).name
    }

    private static func noPhotos(_ format: PhotoListFormat) -> String {
        format == .folder
            ? "there are 0 photos in this folder (no file that ends in jpg, png, heic...; subfolders are looked into with --recursive)"
            : "there are 0 photos in it"
    }

    private static func damaged(_ error: CodingError) -> PhotoListError {
        PhotoListError(.damaged, "the gzipped list \(error.message); create or download it again")
    }
}

extension PhotoListError {
    fileprivate func about(_ name: String) -> PhotoListError {
        var error = self
        error.list = name
        return error
    }
}
