import Testing

@testable import DarkroomCommand

/// The width and the truncation of lines on a terminal.
@Suite struct StyledLineTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("Copán", 5), ("日本", 4), ("e\u{301}", 1), ("\u{1f600}", 2), ("\u{2764}\u{fe0f}", 2),
        ("\u{2588}\u{2591}\u{2026}", 3), ("ｆｕｌｌ", 8), ("한국", 4), ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", 2),
    ]) func columns(_ text: String, _ columns: Int) { #expect(TextWidth.columns(of: text) == columns) }

    @Test func cutsTexts() {
        #expect(TextWidth.cut("photo", to: 5) == "photo" && TextWidth.cut("photos", to: 5) == "phot…")
        #expect(TextWidth.cut("日本の写真", to: 6) == "日本…" && TextWidth.cut("ab", to: 1) == "…")
        #expect(TextWidth.cut("ab", to: 0) == "")
        #expect(TextWidth.cutFront("20261121-7f3a", to: 5) == "…7f3a" && TextWidth.cutFront("ab", to: 2) == "ab")
        #expect(TextWidth.cutMiddle("holidays in Copán 2", to: 12) == "holid…opán 2")
        #expect(TextWidth.padded("ab", to: 4) == "ab  " && TextWidth.padded("日本", to: 3) == "日…")
    }

    @Test func cutsLinesAcrossStyles() {
        var line = StyledLine("abc", .bold)
        line.append("def", .dim)
        #expect(line.cut(to: 6) == line && line.cut(to: 5).text == "abcd…" && line.cut(to: 3).text == "ab…")
        #expect(line.cut(to: 4).text == "abc…" && line.cut(to: 1).text == "…" && line.cut(to: 0).text == "")
        #expect(line.ansi == "\u{1b}[1mabc\u{1b}[m\u{1b}[2mdef\u{1b}[m")
        for width in 0...8 { #expect(line.cut(to: width).columns <= width) }
    }

    @Test func escapesControlCharacters() {
        #expect(StyledLine("a\u{1b}[2Jb\r\n").ansi == "a\\u{1b}[2Jb\\r\\n")
    }

    @Test func flowsOverLines() {
        let items: [StyledLine] = ["new 5", "downloaded 7", "filtered 9"]
        #expect(StyledLine.flow(items, width: 80).map(\.text) == ["new 5   downloaded 7   filtered 9"])
        #expect(StyledLine.flow(items, width: 20).map(\.text) == ["new 5   downloaded 7", "filtered 9"])
        #expect(StyledLine.flow(items, width: 19).map(\.text) == ["new 5", "downloaded 7", "filtered 9"])
        #expect(StyledLine.flow(items, width: 10, indent: 2).map(\.text) == ["new 5", "  downloa…", "  filtere…"])
        let wrapped = StyledLine.wrapped("no active worker takes it", .warning, width: 10, most: 2)
        #expect(wrapped.map(\.text) == ["no active", "worker ta…"])
    }

    @Test func putsTextsAtBothEnds() {
        #expect(StyledLine.ends("name", "state", width: 20).text == "name           state")
        #expect(StyledLine.ends("a very long name", "state", width: 20).text == "a very long …  state")
        #expect(StyledLine.ends("name", "state", width: 10).text == "name")
    }

    @Test func readsLettersAndIgnoresSequences() {
        var reader = KeyReader()
        #expect(reader.keys(Array("sq".utf8)) == ["s", "q"])
        #expect(reader.keys([0x1b, 0x5b, 0x41] + Array("c".utf8)) == ["c"])  // up
        #expect(reader.keys([0x1b]) == [] && reader.keys([0x5b, 0x31, 0x3b]) == [])
        #expect(reader.keys([0x35, 0x43, 0x79]) == ["y"])  // control and right, in pieces
        #expect(reader.keys([0x1b, 0x4f, 0x50, 0x71]) == ["q"])  // F1
        #expect(reader.keys([9, 13, 127, 0xc3, 0xa9, 0x6e]) == ["n"])
    }
}
