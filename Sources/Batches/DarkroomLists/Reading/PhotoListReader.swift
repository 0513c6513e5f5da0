import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import DarkroomText
import Foundation

/// Reads a photo list from a file, from standard input (`-`), from `http(s)://`, or from a folder of photos. All of
/// these except the folder may be compressed with gzip.
///
/// Each call of ``next(_:)`` reads one piece, so that memory does not grow with the size of the list (except for JSON
/// documents and property lists, see `PhotoListParser`). The reader blocks. Only one thread at a time may use a reader.
package final class PhotoListReader {
    /// The number of bytes read at a time; smaller for a compressed list, which may become a thousand times as large
    /// when it is decompressed.
    private static let pieceBytes = 256 << 10
    private static let compressedPieceBytes = 16 << 10

    /// The name of the list in messages: its path, its URL without password and query, or `standard input`.
    package let name: String
    /// The number of entries that were passed on since the beginning of the list.
    package private(set) var photos = 0

    private enum Source {
        case folder(PhotoFolder)
        case bytes(any ListBytes)
    }

    private let location: String
    private let options: ListOptions
    private let remark: @Sendable (ListRemark) -> Void
    private let source: Source
    private var entries: EntryReading
    private let paths: EntryReading.Paths
    private var hasReportedConversion = false
    private var hasReportedQuotes = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PhotoListReader.pieceBytes, alignment: 16)
    private var parser: PhotoListParser
    private var gzip: GzipReader?
    /// True until the first bytes have been read.
    private var isAtStart = true
    /// True if the parser has examined bytes whose entries have not been passed on yet.
    private var hasExamined = false
    private var isEnded = false

    /// Opens a list, and reads until its format is known. A property list is read completely.
    ///
    /// Bytes that cannot be read again, for example from a pipe, are copied to a temporary file for `rewind`.
    /// - Parameters:
    ///   - location: a path, a URL, or `-` for standard input.
    ///   - options: the options for reading.
    ///   - standardInput: the descriptor to read for `-`.
    ///   - remark: called with a sentence about anything that was skipped, converted or guessed.
    package init(
        _ location: String, _ options: ListOptions = ListOptions(), standardInput: Int32 = STDIN_FILENO,
        remark: @escaping @Sendable (ListRemark) -> Void = { _ in }
    ) throws(PhotoListError) {
        self.location = location
        self.options = options
        self.remark = remark
        name = Self.displayName(location)
        paths = Self.paths(in: location, options)
        entries = EntryReading(paths)
        parser = Self.parser(of: location, options)
        do {
            source = try Self.open(location, options, standardInput)
            switch source {
            case .bytes(let bytes):
                try begin(bytes)
                if let guess = parser.guess { remark(guess.after("photo list \(name): ")) }
                if paths != .none, parser.format?.isReadWhole == false { photosFolder = try folderOfFirstPath() }
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
        return parser.format ?? .text  // set by `begin`
    }

    /// True if no two photos can have the same name, because the list is a folder or a dictionary in a property list.
    package var namesAreUnique: Bool { format == .folder || parser.namesAreUnique }

    /// True for the dictionary of a property list in which no two names differ only in case or Unicode composition.
    package var namesAreDistinct: Bool { parser.namesAreDistinct }

    /// True if the names are distinct even without picture extensions, and some names have such an extension.
    package var stemsAreDistinct: Bool { parser.stemsAreDistinct }

    /// The folder of local photos; empty for other lists. If the list is a folder, this is its real path. If the list
    /// contains paths, this is the folder of the first path.
    package private(set) var photosFolder = ""

    /// The folder of the first entry of a streamed list; empty if that entry is not a path.
    private func folderOfFirstPath() throws(PhotoListError) -> String {
        var path: [UInt8]?
        var isFirst = true
        var probe = parser  // a copy, so that `parser` still has the examined bytes
        try probe.parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: isEnded) { entry in
            if isFirst { path = entries.path(entry.url) }
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
        let text = "folder \(name): \(parts.joined(separator: " and ")) skipped"
        let hasMore = skipped.folders > 0 && !options.isRecursive
        remark(hasMore ? ListRemark(text, .includeSubfolders) : ListRemark(text))
    }

    /// Reports once that the list is not valid UTF-8.
    private func reportConversion() {
        guard entries.converted > 0, !hasReportedConversion else { return }
        hasReportedConversion = true
        let text = "it has text that is not UTF-8, which is read as Windows-1252; to be sure, convert it first (iconv)"
        remark(ListRemark("photo list \(name): \(text)"))
    }

    /// Reports once that a quoted field is unusual.
    private func reportQuotes() {
        guard let unusual = parser.quoteRemark, !hasReportedQuotes else { return }
        hasReportedQuotes = true
        remark(unusual.after("photo list \(name), "))
    }

    /// Reads the next entries and passes them to `receive`. For a streamed list, one call passes at most a few thousand
    /// entries. Returns false at the end of the list.
    ///
    /// Throws if the list contains no photos. After an error, only `rewind` may be called.
    package func next(_ receive: PhotoListReceiver) throws(PhotoListError) -> Bool {
        var count = 0
        func counting(_ entry: ListEntry) {
            count += 1
            if case .folder = source { receive(entry) } else { entries.read(entry, receive) }
        }
        defer { photos += count }
        defer {
            reportConversion()
            reportQuotes()
        }
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
            if isEnded, photos + count == 0 { throw Self.noPhotos(format) }
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
        parser = Self.parser(of: location, options)
        parser.examinedBytes = examinedBytes
        guard case .bytes(let bytes) = source else { return }
        do {
            try bytes.rewind()
            try begin(bytes)
        } catch {
            throw error.about(name)
        }
    }

    /// Reads until the format of the list is known.
    private func begin(_ bytes: any ListBytes) throws(PhotoListError) {
        var isKnown = false
        while !isKnown {
            try readPiece(bytes) { [self] (piece, isLast) throws(PhotoListError) in
                isKnown = try parser.examine(piece, isLast: isLast)
            }
            // If a pipe pauses, the format is decided from the bytes received so far.
            if !isKnown, !isEnded, bytes.hasPaused() { isKnown = parser.decide() }
        }
        hasExamined = true
    }

    /// Reads once, and passes the decompressed bytes to `body`. At the end, passes an empty last piece.
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
        if isWeb(location) {
            return .bytes(try SpooledBytes(WebBytes(url: location, options)))
        }
        var information = stat()
        if stat(location, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
            return .folder(try PhotoFolder(path: location, options))
        }
        return .bytes(try again(FileBytes(path: location)))
    }

    /// The entries that are paths. Relative paths begin in the folder of the list file, or in the working folder for
    /// standard input. The list of an untrusted user is in a folder of this program, so relative paths are not read.
    private static func paths(in location: String, _ options: ListOptions) -> EntryReading.Paths {
        if isWeb(location) { return .none }
        if options.limits != nil { return .absolute }
        let folder =
            location == "-" ? "." : URL(fileURLWithPath: location).standardizedFileURL.deletingLastPathComponent().path
        return Path.real(folder).map { EntryReading.Paths.all(in: $0) } ?? EntryReading.Paths.none
    }

    private static func again(_ file: FileBytes) throws(PhotoListError) -> any ListBytes {
        file.canRewind ? file : try SpooledBytes(file)
    }

    private static func parser(of location: String, _ options: ListOptions) -> PhotoListParser {
        PhotoListParser(
            listName: fileName(location), columns: options.columns, quotes: options.quotes,
            maxWholeBytes: options.limits?.maxWholeBytes ?? PhotoListParser.maxWholeBytes)
    }

    private static func isWeb(_ location: String) -> Bool { URLScheme.web(location[...]) != nil }

    /// The name of a list in messages: its path, its URL without secret parts, or `standard input`.
    package static func displayName(_ location: String) -> String {
        if location == "-" { return "standard input" }
        // `redacted` treats the whole text as a URL, even if it contains spaces. A path may contain a mistyped URL, so
        // it is also redacted.
        return isWeb(location) ? PhotoURL.redacted(location) : PhotoURL.redacting(location)
    }

    private static func fileName(_ location: String) -> String {
        isWeb(location)
            ? PhotoURL.name(of: location) : Path.split(location).name
    }

    private static func noPhotos(_ format: PhotoListFormat) -> PhotoListError {
        guard format == .folder else { return PhotoListError(.empty, "there are 0 photos in it") }
        return PhotoListError(
            .empty, "there are 0 photos in this folder (no file that ends in jpg, png, heic...)", .includeSubfolders)
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
