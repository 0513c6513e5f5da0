import DarkroomLists
import DarkroomModel
import DarkroomStorage
import Foundation
import FuzzSupport

/// Damaged and hostile lists, names, URLs and templates.
struct FuzzedLists {
    private static let samples = [
        ("a", "http://photos.example/a.jpg"), ("../../etc/passwd", "https://user:pw@h:8080/x/..%2f..%2fb.png?q#f"),
        ("\u{e9} \"x\", y", "file:///a%20b/%00.gif"), (".hidden", "NO URL"), ("con\0\n", "http://[::1]:80/%2e%2e/%ff"),
        ("e\u{301}/\\", "ftp://h/~"), ("", "http://h"), (String(repeating: "n", count: 300), "http://h/" + "%2F.."),
    ]

    private let lists: [[UInt8]]
    private let names: [[UInt8]]
    private let urls: [[UInt8]]
    private let templates = [
        "{index}-{name}", "{name}", "{index}", "x{name}y{index}", "{", "{}", "../{name}", "{name}{name}", ".",
    ]

    init() throws {
        let urls = Self.samples.map(\.1)
        let objects = Self.samples.map { ["name": $0.0, "url": $0.1] }
        func separated(_ delimiter: String) -> [UInt8] {
            let rows = Self.samples.map {
                "\"\($0.0.replacingOccurrences(of: "\"", with: "\"\""))\"\(delimiter)\($0.1)"
            }
            return Array((["name\(delimiter)url"] + rows).joined(separator: "\r\n").utf8)
        }
        let json = try [
            JSONSerialization.data(withJSONObject: objects, options: .sortedKeys),
            JSONSerialization.data(withJSONObject: urls),
        ]
        let lines = try objects.map { try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) }
        func propertyList(
            _ list: Any, _ format: PropertyListSerialization.PropertyListFormat = .binary
        ) throws -> [UInt8] {
            Array(try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
        }
        // Foundation does not write this list, because its order of keys differs between processes.
        let pairs = Self.samples.dropFirst(5).map { "<key>\($0.0)</key><string>\($0.1)</string>" }.joined()
        let dictionary = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(pairs)</dict></plist>"
        lists = [
            Array(urls.joined(separator: "\n").utf8), separated(","), separated("\t"), separated(";"),
            Array(json[0]), Array(json[1]), Array(lines.joined(separator: [10])), Array(dictionary.utf8),
            try propertyList(["a": "http://h/a"]), try propertyList(urls, .xml), try propertyList(urls),
            Array(String(repeating: "[", count: 50_000).utf8), Array(String(repeating: #"{"a":"#, count: 20_000).utf8),
        ]
        names =
            Self.samples.map { Array($0.0.utf8) } + [
                [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE9], Array("..".utf8), Array("/".utf8),
            ]
        self.urls = urls.map { Array($0.utf8) }
    }

    /// Runs the cases of these seeds. If the result of a case is wrong, the process ends.
    func run(_ seeds: Range<UInt64>, note: FuzzNote) {
        for seed in seeds {
            note.begin(seed, seconds: 20)
            var mutator = ByteMutator(SeededGenerator(seed: seed))
            switch seed % 4 {
            case 0, 1: readList(&mutator)
            case 2: readURL(&mutator)
            default: readTemplate(&mutator)
            }
        }
        note.end(seeds.upperBound)
    }

    private func readList(_ mutator: inout ByteMutator) {
        let list = mutator.mutate(mutator.generator.pick(lists), with: mutator.generator.pick(lists))
        let ending = mutator.generator.pick(["", "a.csv", "a.json.gz", "a.plist", "a.tsv", "a.jsonl"])
        let whole = Result { try entries(of: list, named: ending) }
        let step = 1 + mutator.generator.number(in: 0..<max(1, min(list.count, 4000)))
        let stepped = Result { try entries(of: list, named: ending, step: step) }
        // Reading the list at once and in chunks must give the same entries, or fail both times. Entries read before a
        // failure are not compared.
        switch (whole, stepped) {
        case (.success(let one), .success(let other)):
            let difference =
                zip(one, other).first { $0 != $1 }.map { "\($0) and \($1)" } ?? "\(one.count) and \(other.count)"
            precondition(one == other, "different entries in steps of \(step): \(difference)")
            for entry in one { checkEntry(entry, &mutator) }
        case (.failure, .failure): break
        default: preconditionFailure("\(whole) but in steps of \(step) \(stepped)")
        }
    }

    private func checkEntry(_ entry: PhotoListEntry, _ mutator: inout ByteMutator) {
        _ = PhotoURL.check(entry.url)
        checkName(Array(entry.name.utf8), &mutator)
        var operation = OperationEntry(operationSize: 50)
        ListEntry.with(name: entry.name, url: entry.url) { operation.append($0) }
        // Escaping may double the length of an entry. If the escaped entry is too long, it is truncated.
        let isLong = entry.name.utf8.count + entry.url.utf8.count > OperationEntry.maxBytes / 50 / 2
        let records = operation.records(firstIndex: 7)
        precondition(records.count == 1 && records[0].index == 7)
        precondition(isLong || records[0].name.utf8.elementsEqual(entry.name.utf8))
    }

    private func readURL(_ mutator: inout ByteMutator) {
        let url = mutator.mutate(mutator.generator.pick(urls), with: mutator.generator.pick(names))
        var scratch = PhotoURL.Scratch()
        let name = url.withUnsafeBytes { bytes in
            _ = PhotoURL.check(bytes)
            return PhotoURL.withName(of: bytes, &scratch) { Array($0) }
        }
        checkName(name, &mutator)
    }

    private func readTemplate(_ mutator: inout ByteMutator) {
        let text = mutator.mutate(Array(mutator.generator.pick(templates).utf8), with: mutator.generator.pick(names))
        let name = mutator.mutate(mutator.generator.pick(names), with: mutator.generator.pick(urls))
        _ = try? PhotoRanges(parsing: String(decoding: text, as: UTF8.self))
        checkName(name, &mutator, template: String(decoding: text, as: UTF8.self))
    }

    /// The first 10,000 files must be in the output folder, all others in numbered subfolders. A file must not be
    /// hidden, and its name must be valid in a file system.
    private func checkName(_ name: [UInt8], _ mutator: inout ByteMutator, template text: String? = nil) {
        guard let template = try? FileNameTemplate(text ?? mutator.generator.pick(templates), namesAreUnique: true)
        else { return }
        let index = mutator.generator.number(in: 0..<100_000_000) >> mutator.generator.number(in: 0..<27)
        let path = template.path(index: index, name: name, ending: "jpg")
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        precondition(
            parts.count == (index < 10_000 ? 1 : 2)
                && parts.dropLast().allSatisfy { $0.allSatisfy { (48...57).contains($0) } })
        let file = Array(parts[parts.count - 1])
        precondition(
            (5...255).contains(file.count) && file.first != UInt8(ascii: ".") && file.suffix(4) == Array(".jpg".utf8))
        precondition(!file.contains { $0 < 32 || $0 == 127 || $0 == UInt8(ascii: "\\") })
        precondition(String(validating: file, as: UTF8.self) != nil)
    }
}
