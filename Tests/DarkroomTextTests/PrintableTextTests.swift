import DarkroomText
import Foundation
import FuzzSupport
import Testing

/// Text from untrusted sources cannot control the terminal that prints it.
@Suite struct PrintableTextTests {
    @Test(arguments: [
        "", "plain", "Ärger 日本.jpg", "e\u{301}", "مرحبا", "می\u{200c}خواهم", "ක්\u{200d}ර", "\u{2764}\u{fe0f}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{2764}\u{fe0f}\u{200d}\u{1f525}", "\u{a9}\u{fe0f}",
        "葛\u{e0100}", "\u{1f44d}\u{1f3fd}", "\u{fffd}",
    ])
    func keepsTextOfAnyScript(_ text: String) {
        #expect(PrintableText.escaped(text) == text)
        #expect(quoted(text, .json) == "\"\(text)\"")
    }

    @Test(arguments: [
        ("\u{1b}[2J\u{7f}\0", #"\u{1b}[2J\u{7f}\u{0}"#), ("\u{9b}31m\u{85}", #"\u{9b}31m\u{85}"#),
        ("a\tb\r\nc", #"a\tb\r\nc"#), ("\u{2028}x\u{2029}", #"\u{2028}x\u{2029}"#),
        ("photo\u{202e}gpj.exe", #"photo\u{202e}gpj.exe"#), ("\u{2066}a\u{2069}\u{61c}", #"\u{2066}a\u{2069}\u{61c}"#),
        ("a\u{200b}b\u{200d}c\u{200c}d\u{feff}", #"a\u{200b}b\u{200d}c\u{200c}d\u{feff}"#),
        ("日\u{200d}", #"日\u{200d}"#), ("日\u{200d} x", #"日\u{200d} x"#), ("\u{200d}日", #"\u{200d}日"#),
        ("日\u{200d}\u{200d}本", #"日\u{200d}\u{200d}本"#), ("a\u{fe0f}", #"a\u{fe0f}"#),
        ("日\u{fe0f}\u{fe0f}\u{200d}\u{fe0f}", "日\u{fe0f}" + #"\u{fe0f}\u{200d}\u{fe0f}"#),
        ("soft\u{ad}hyphen", #"soft\u{ad}hyphen"#), ("tag\u{e0041}", #"tag\u{e0041}"#), ("\u{3164}", #"\u{3164}"#),
        ("\u{fffa}", #"\u{fffa}"#), ("\u{2065}", #"\u{2065}"#),
    ])
    func escapesInvisibleCharacters(_ text: String, _ shown: String) {
        #expect(PrintableText.escaped(text) == shown)
    }

    @Test func lineKeepsOnlyTabs() {
        #expect(PrintableText.line("a\tb\nc\u{1b}") == "a\tb\\nc\\u{1b}")
        #expect(PrintableText.escaped("a\tb\nc\u{1b}", keeping: ["\n"]) == "a\\tb\nc\\u{1b}")
    }

    @Test func jsonEscapesByCodeUnits() throws {
        let text = "\u{1b}\u{9b}\u{7f}\u{2028}\u{202e}\u{e0041}\"\\/\n"
        #expect(quoted(text, .json) == #""\u001b\u009b\u007f\u2028\u202e\udb40\udc41\"\\/\n""#)
        let decoded = try JSONSerialization.jsonObject(
            with: Data(quoted(text, .json).utf8), options: .fragmentsAllowed)
        #expect(decoded as? String == text)
    }

    @Test func invalidBytesBecomeReplacementCharacters() {
        for bytes: [UInt8] in [[0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xFF], [0xF0, 0x9F, 0x98], [0x9B, 0x41]] {
            let shown = PrintableText.escaped(String(decoding: bytes, as: UTF8.self))
            #expect(shown.unicodeScalars.allSatisfy { $0 == "\u{fffd}" || $0 == "A" }, "\(bytes)")
        }
    }

    @Test func longTextIsCut() {
        var bytes: [UInt8] = []
        PrintableText.appendQuoted(String(repeating: "\u{1}", count: 100), .people, mostBytes: 20, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "\"" + String(repeating: #"\u{1}"#, count: 4) + "\u{2026}\"")
    }

    /// Random text in every output form. No output has a code point that acts on a terminal, the JSON decodes to the
    /// same text, and escaping the output again changes nothing.
    @Test func randomTextHasNoEffectOnATerminal() throws {
        let run = FuzzRun("printable text", count: 4000)
        for number in 0..<run.count {
            var generator = SeededGenerator(seed: run.seed &+ UInt64(number))
            let text = Self.text(&generator)
            let shown = PrintableText.escaped(text)
            let line = PrintableText.line(text)
            let json = quoted(text, .json)
            for printed in [shown, line, json, quoted(text, .people)] {
                let scalars = Array(printed.unicodeScalars)
                let bad = scalars.indices.first { Self.acts(scalars, $0) && scalars[$0] != "\t" }
                #expect(bad == nil, "\(run): \(scalars.map { String($0.value, radix: 16) })")
            }
            #expect(!shown.contains("\t") && PrintableText.escaped(shown) == shown && PrintableText.line(line) == line)
            let decoded = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
            #expect((decoded as? String).map { Array($0.utf8) } == Array(text.utf8), "\(run)")
        }
    }

    // MARK: - Support

    private func quoted(_ text: String, _ form: PrintableText.Form) -> String {
        var bytes: [UInt8] = []
        PrintableText.appendQuoted(text, form, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Code points that act on the text around them. The tested code finds them by Unicode properties instead.
    private static let acting: [ClosedRange<UInt32>] = [
        0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x17B4...0x17B5,
        0x180E...0x180E, 0x200B...0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164...0x3164,
        0xD800...0xDFFF, 0xFEFF...0xFEFF, 0xFFA0...0xFFA0, 0xFFF0...0xFFFB, 0xE0000...0xE00FF, 0xE01F0...0xE0FFF,
    ]

    /// Whether the code point at `position` acts on a terminal, or is an invisible code point without a purpose.
    private static func acts(_ scalars: [Unicode.Scalar], _ position: Int) -> Bool {
        let value = scalars[position].value
        if acting.contains(where: { $0.contains(value) }) { return true }
        let isJoiner = (0x200C...0x200D).contains(value)
        let isSelector = (0xFE00...0xFE0F).contains(value) || (0xE0100...0xE01EF).contains(value)
        guard isJoiner || isSelector else { return false }
        // At the start and after an ASCII character, a joiner or a variation selector has no purpose.
        guard position > 0, scalars[position - 1].value > 0x7F else { return true }
        return isJoiner && (position + 1 == scalars.count || scalars[position + 1].value <= 0x7F)
    }

    /// A short random text: arbitrary bytes, arbitrary code points, and code points that act on a terminal.
    private static func text(_ generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<generator.number(in: 0..<12) {
            switch generator.number(in: 0..<5) {
            case 0:
                let bytes = (0..<generator.number(in: 1..<6)).map { _ in UInt8(generator.number(in: 0..<256)) }
                text += String(decoding: bytes, as: UTF8.self)
            case 1:
                let scalar = Unicode.Scalar(UInt32(generator.number(in: 0..<0x11_0000)))
                text.unicodeScalars.append(scalar ?? "\u{fffd}")
            case 2:
                let range = generator.pick(acting)
                let value = generator.number(in: Int(range.lowerBound)..<Int(range.upperBound) + 1)
                text.unicodeScalars.append(Unicode.Scalar(UInt32(value)) ?? "\u{fffd}")
            case 3:
                text += generator.pick(["\u{200d}", "\u{200c}", "\u{fe0f}", "\u{e0100}", "\r\n", "\u{1b}]0;x\u{7}"])
            default: text += generator.pick(["a", "é", "日", "\u{1f468}", "\u{301}", "\"", "\\", " ", "م"])
            }
        }
        return text
    }
}
