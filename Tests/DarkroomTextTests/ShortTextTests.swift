import DarkroomText
import Testing

@Suite struct ShortTextTests {
    @Test(arguments: [("", ""), ("abc", "abc"), ("abcd", "abc..."), ("a\u{301}bc", "a\u{301}b..."), ("ü写📷", "ü写📷")])
    func onlyALongTextIsCut(_ text: String, _ short: String) {
        #expect(Array(text.shortened(to: 3).unicodeScalars) == Array(short.unicodeScalars))
    }
}
