import DarkroomCoding
import DarkroomConcurrency
import DarkroomFiles
import DarkroomLists
import DarkroomModel
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@Suite struct PhotoListReaderTests {
    static let urls = (0..<30_000).map { "http://host.example/\($0).jpg" }
    static let text = Array(urls.joined(separator: "\n").utf8)

    @Test func readsFilesOfEveryFormat() throws {
        let folder = try ScratchFolder()
        let lists: [(String, String, PhotoListFormat, Bool)] = [
            ("a.txt", "http://a/1.jpg\n", .text, false),
            ("a.csv", "url\nhttp://a/1.jpg", .separated, false),
            ("a", "{\"url\": \"http://a/1.jpg\"}\n", .jsonLines, false),
            ("a.json", "[\"http://a/1.jpg\"]", .json, false),
            (
                "a.plist", "<plist><array><string>http://a/1.jpg</string></array></plist>", .propertyList,
                false
            ),
            (
                "b.plist", "<plist><dict><key>1.jpg</key><string>http://a/1.jpg</string></dict></plist>", .propertyList,
                true
            ),
        ]
        for (name, text, format, isDictionary) in lists {
            for bytes in [Array(text.utf8), gzipped(Array(text.utf8))] {
                let reader = try PhotoListReader(folder.write(name, bytes))
                #expect(reader.format == format)
                #expect((reader.namesAreDistinct, reader.stemsAreDistinct) == (isDictionary, isDictionary))
                for _ in 1...2 {
                    #expect(try all(reader) == [PhotoListEntry(name: "1.jpg", url: "http://a/1.jpg")])
                    #expect(reader.photos == 1)
                    try reader.rewind()
                }
            }
        }
    }

    @Test(arguments: [false, true]) func streamsAndRewinds(isGzipped: Bool) throws {
        let folder = try ScratchFolder()
        let reader = try PhotoListReader(folder.write("list", isGzipped ? gzipped(Self.text) : Self.text))
        var pieces = 0, seen = 0
        while try reader.next({ _ in seen += 1 }) { pieces += 1 }
        #expect(pieces > 2 && seen == 30_000)
        try reader.rewind()
        #expect(try all(reader).map(\.url) == Self.urls)
    }

    /// Standard input can be read only once, so the reader keeps a copy of all its bytes for `rewind`.
    @Test func rewindsStandardInput() throws {
        let pipe = Foundation.Pipe()
        let writer = Thread {
            try? pipe.fileHandleForWriting.write(contentsOf: Data(Self.text)); try? pipe.fileHandleForWriting.close()
        }
        writer.start()
        let reader = try PhotoListReader("-", standardInput: pipe.fileHandleForReading.fileDescriptor)
        #expect(reader.name == "standard input")
        #expect(try reader.next { _ in })
        for _ in 1...2 {
            try reader.rewind()
            #expect(try all(reader).map(\.url) == Self.urls)
        }
    }

    @Test func readsStandardInputFromItsCurrentOffset() throws {
        let folder = try ScratchFolder()
        let file = try #require(
            FileHandle(forReadingAtPath: try folder.write("list", Array("skipped\nhttp://a/1\n".utf8))))
        try file.seek(toOffset: 8)
        let reader = try PhotoListReader("-", standardInput: file.fileDescriptor)
        for _ in 1...2 {
            #expect(try all(reader).map(\.url) == ["http://a/1"])
            try reader.rewind()
        }
    }

    @Test func readsAFolderOfPhotos() throws {
        let folder = try ScratchFolder()
        for name in ["b.jpg", "a#1.PNG", "é.heic", ".hidden.jpg", "notes.txt", "B.jpeg"] {
            _ = try folder.write(name, [1])
        }
        try FileManager.default.createDirectory(atPath: "\(folder.path)/sub.jpg", withIntermediateDirectories: false)
        let reader = try PhotoListReader(folder.path)
        #expect(reader.format == .folder && reader.namesAreUnique)
        let found = try all(reader)
        #expect(found.map(\.name) == ["B.jpeg", "a#1.PNG", "b.jpg", "é.heic"])
        let base = try #require(URL(string: found[1].url))
        #expect(base.path == "\(folder.path)/a#1.PNG")
        #expect(
            found.allSatisfy {
                PhotoURL.check($0.url) == nil && FileManager.default.fileExists(atPath: URL(string: $0.url)?.path ?? "")
            })
    }

    @Test func readsSubfoldersIfRecursiveAndReportsSkippedFiles() throws {
        let folder = try ScratchFolder()
        for sub in ["a", "a/b", "out", ".hidden"] {
            try FileManager.default.createDirectory(atPath: "\(folder.path)/\(sub)", withIntermediateDirectories: true)
            _ = try folder.write("\(sub)/1.jpg", [1])
        }
        _ = try folder.write("0.jpg", [1])
        _ = try folder.write("notes.txt", [1])
        #expect(symlink(folder.path, folder.path + "/a/circle") == 0)
        let remarks = Locked<[String]>([])
        func names(_ isRecursive: Bool) throws -> [String] {
            var options = ListOptions()
            options.isRecursive = isRecursive
            options.except = folder.path + "/out"
            remarks.withLock { $0 = [] }
            let reader = try PhotoListReader(folder.path, options) { remark in
                remarks.withLock { $0.append(remark.description) }
            }
            return try all(reader).map(\.name)
        }
        #expect(try names(false) == ["0.jpg"])
        let flat = "2 subfolders and 1 file without a picture's ending skipped; subfolders can be included"
        #expect(remarks.withLock { $0.count == 1 && $0[0].hasSuffix(flat) }, "\(remarks.withLock { $0 })")
        #expect(try names(true) == ["0.jpg", "a/1.jpg", "a/b/1.jpg"])
        let deep = "2 subfolders and 1 file without a picture's ending skipped"
        #expect(remarks.withLock { $0.count == 1 && $0[0].hasSuffix(deep) }, "\(remarks.withLock { $0 })")
    }

    @Test func reportsTheFolderOfThePhotosOfAFolderOrAListOfPaths() throws {
        let folder = try ScratchFolder()
        let real = try #require(Path.real(folder.path))
        _ = try folder.write("0.jpg", [1])
        #expect(try PhotoListReader(folder.path).photosFolder == real)
        let paths = try PhotoListReader(folder.write("paths.txt", Array("0.jpg\nsub/1.jpg\n".utf8)))
        #expect(paths.photosFolder == real)
        #expect(try all(paths).map(\.url) == ["file://\(real)/0.jpg", "file://\(real)/sub/1.jpg"])
        #expect(try PhotoListReader(folder.write("urls.txt", Array("http://h/a.jpg\n".utf8))).photosFolder.isEmpty)
    }

    @Test func warnsOnceAboutTextThatIsNotUTF8() throws {
        let folder = try ScratchFolder()
        var list: [UInt8] = Array("name,url\nM".utf8) + [0xfc]
        list += Array("n,http://h/a\nK".utf8) + [0xf6]
        list += Array("ln,http://h/b\n".utf8)
        let remarks = Locked<[String]>([])
        let reader = try PhotoListReader(folder.write("list.csv", list)) { remark in
            remarks.withLock { $0.append(remark.description) }
        }
        for _ in 0..<2 {
            #expect(try all(reader).map(\.name) == ["Mün", "Köln"])
            try reader.rewind()
        }
        #expect(remarks.withLock { $0.count == 1 && $0[0].contains("Windows-1252") })
    }

    @Test func errorNamesTheListAndItsProblem() throws {
        let folder = try ScratchFolder()
        let zipped = gzipped(Self.text)
        let cases: [(String, PhotoListError.Code, String)] = [
            ("\(folder.path)/none.csv", .notFound, "no such file"),
            ("\(folder.path)/none/x", .notFound, "no such file"),
            (try folder.write("empty", []), .empty, "empty"),
            (try folder.write("head.csv", Array("name,url\n".utf8)), .empty, "0 photos"),
            (try folder.write("empty.json", Array("[]".utf8)), .empty, "0 photos"),
            (try folder.write("empty.gz", gzipped([])), .empty, "empty"),
            (try folder.write("cut.gz", Array(zipped.dropLast(9))), .damaged, "ends"),
            (try folder.write("short.gz", [0x1f, 0x8b]), .damaged, "ends"),
            (
                try folder.write("bad.gz", zipped.dropLast(8) + [UInt8](repeating: 0, count: 8)),
                .damaged, "damaged"
            ),
            (
                try folder.write("open.csv", Array("name,url\nCat,http://a/1\n\"Dog,http://a/2\n".utf8)), .damaged,
                "line 3"
            ),
            (folder.path + "/photos", .empty, "0 photos in this folder"),
            (try folder.write("photo.txt", [0xff, 0xd8, 0xff]), .notAList, "JPEG"),
        ]
        try FileManager.default.createDirectory(atPath: "\(folder.path)/photos", withIntermediateDirectories: false)
        for (path, code, found) in cases {
            let error = try requireError(PhotoListError.self) { try all(PhotoListReader(path)) }
            #expect(error.code == code, "\(error)")
            #expect(error.list == path)
            #expect(error.description.contains(found), "\(error)")
            #expect(error.description.hasPrefix("photo list \(path)"))
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root can read every file")) func errorNamesAFileWithoutReadPermission() throws {
        let folder = try ScratchFolder()
        let path = try folder.write("secret", [1])
        chmod(path, 0)
        let error = expectError(PhotoListError.self) { try PhotoListReader(path) }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("permission") == true)
    }

    /// A path in the list of somebody who is not trusted does not lead into the folder of the list.
    @Test(arguments: ["list.txt", "list.csv", "list.tsv", "list.jsonl", "list.json", "list.plist"])
    func relativePathsInAnUploadedListAreNotRead(name: String) throws {
        let folder = try ScratchFolder()
        let paths = ["a.jpg", "../a.jpg", "./a.jpg", "sub/a.jpg", "..\\a.jpg", "//h/a.jpg", "/photos/a.jpg"]
        let json = try JSONSerialization.data(withJSONObject: paths, options: .withoutEscapingSlashes)
        let text =
            switch name.suffix(5) {
            case ".json": String(decoding: json, as: UTF8.self)
            case "jsonl":
                try paths.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
            case "plist":
                String(
                    decoding: try PropertyListSerialization.data(fromPropertyList: paths, format: .xml, options: 0),
                    as: UTF8.self)
            case let ending:
                paths.enumerated().map {
                    ending == "t.txt" ? "\($1)\n" : "\($0)\(ending == "t.tsv" ? "\t" : ",")\($1)\n"
                }
                .joined()
            }
        var options = ListOptions()
        options.limits = ListLimits { false }
        let list = try folder.write(
            name, (name.hasSuffix("v") ? "name\(name.hasSuffix("tsv") ? "\t" : ",")url\n" : "") + text)
        var urls: [String] = []
        let reader = try PhotoListReader(list, options)
        while try reader.next({ urls.append(PhotoListEntry($0).url) }) {}
        #expect(urls == paths.dropLast() + ["file:///photos/a.jpg"])
        #expect(urls.dropLast().allSatisfy { PhotoURL.check($0)?.reason == .notAURL })
    }

    @Test func quotedFieldThatIsNotClosedIsTold() throws {
        let folder = try ScratchFolder()
        let remarks = Locked<[String]>([])
        let rows = (0..<3000).map { "\($0 == 2000 ? "\"" : "")a caption with some words \($0)\thttp://a/\($0).jpg\n" }
        let list = try folder.write("list.tsv", rows.joined())
        let reader = try PhotoListReader(list) { remark in remarks.withLock { $0.append(remark.description) } }
        var photos = 0
        while try reader.next({ _ in photos += 1 }) {}
        #expect(photos == 3000 && reader.photos == 3000)
        let told = remarks.withLock { $0 }
        #expect(told.count == 1 && told[0].contains("list.tsv, line 2001: "), "\(told)")
    }
}

/// The remaining entries of a reader.
func all(_ reader: PhotoListReader) throws -> [PhotoListEntry] {
    var entries: [PhotoListEntry] = []
    while try reader.next({ entries.append(PhotoListEntry($0)) }) {}
    return entries
}

/// A gzip file (RFC 1952) with the deflate data of the zlib format.
func gzipped(_ bytes: [UInt8]) -> [UInt8] {
    var table = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
    }
    let checksum = ~bytes.reduce(~0 as UInt32) { table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
    table = []
    let trailer = [checksum, UInt32(bytes.count)].flatMap { word in
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
    let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
    return header + Array(Deflate.compress(bytes).dropFirst(2).dropLast(4)) + trailer
}
