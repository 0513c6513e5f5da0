import Darkroom
import Foundation

extension HumanText {
    /// A time in ms since 1970 in the local time zone: `2026-11-21 09:05:01`.
    static func localTime(_ milliseconds: Int) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Text of strangers (names, URLs, messages of servers) without what would steer a terminal or break a line.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { safe, scalar in
            switch scalar {
            case "\t": safe += "\\t"
            case "\n": safe += "\\n"
            case "\r": safe += "\\r"
            case _ where isControl(scalar): safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        // Control characters, and the marks that turn the direction of writing round.
        scalar.properties.generalCategory == .control || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }
}
