import DarkroomModel
import DarkroomStorage
import FuzzSupport
import Testing

@Suite struct FileNamePropertyTests {
    /// Pieces of names that are likely to collide.
    private static let pieces: [[UInt8]] =
        [
            "a", "A", "b", "1", "01", ".", "..", ".jpg", ".JPG", ".jpeg", "%", "%2e", "%2E", "%25", "/", "\\", "-", "_",
            "~", " ", "\0", "\n", "é", "e\u{301}",
            "000001-", "00001/",
        ].map { Array($0.utf8) } + [
            [0xe9], [0xc3], [0xff, 0xfe], [UInt8](repeating: 0x78, count: 198), [UInt8](repeating: 0x2f, count: 66),
        ]

    /// A name of up to five pieces. `randomElement` returns nil only for an empty array.
    private static func name(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...5, using: &generator)).flatMap { _ in pieces.randomElement(using: &generator)! }
    }

    private static func isInside(_ path: String) -> Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { $0.count <= 255 && !$0.isEmpty && !".-".utf8.contains($0.first ?? 0) }
            && !path.utf8.contains { $0 < 32 || $0 == 127 }
    }

    /// Tests random names. Also uses each file name as a name, because such names are the most likely to collide.
    @Test func differentNamesHaveDifferentPaths() throws {
        let template = try FileNameTemplate("{name}", namesAreUnique: true)
        var generator = SeededGenerator(seed: 3)
        var seen: [[UInt8]: [UInt8]] = [:]  // by bytes: strings of different normal forms are equal
        for _ in 0..<20_000 {
            let name = Self.name(&generator)
            let path = template.path(index: 0, name: name, ending: "jpg")
            let again = Array(path.utf8.dropLast(4))
            for name in [name, again, again + Array(".jpg".utf8)] {
                let path = template.path(index: 0, name: name, ending: "jpg")
                if let other = seen.updateValue(name, forKey: Array(path.utf8)), other != name {
                    Issue.record("\(other) and \(name) both have the path \(path)")
                }
                #expect(Self.isInside(path), "\(path)")
            }
        }
        #expect(seen.count > 10_000)
    }

    @Test(arguments: ["{index}-{name}", "{name}{index}", "{index}{name}", "{index}", "1{name}0{index}0"])
    func differentIndexesHaveDifferentPaths(text: String) throws {
        let template = try FileNameTemplate(text, namesAreUnique: false)
        var generator = SeededGenerator(seed: 7)
        var seen: [[UInt8]: Int] = [:]
        for _ in 0..<8_000 {
            let index = Int.random(in: 0..<10_000_000, using: &generator) >> Int.random(in: 0..<24, using: &generator)
            let path = template.path(index: index, name: Self.name(&generator), ending: "jpg")
            if let other = seen.updateValue(index, forKey: Array(path.utf8)), other != index {
                Issue.record("\(other) and \(index) both have the path \(path)")
            }
            #expect(Self.isInside(path), "\(path)")
        }
        #expect(seen.count > 1_000)
    }
}
