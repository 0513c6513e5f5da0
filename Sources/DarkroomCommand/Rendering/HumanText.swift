import Foundation

/// Numbers with units as people read them.
enum HumanText {
    /// `850 ms`, `4.2 s`, `3m 12s`, `2h 05m`, `3d 04h`.
    static func duration(_ seconds: Double) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 59.95 { return "\(decimal(seconds, digits: 1)) s" }
        let whole = Int(seconds.rounded())
        if whole < 3600 { return "\(whole / 60)m \(padded(whole % 60))s" }
        if whole < 86_400 { return "\(whole / 3600)h \(padded(whole / 60 % 60))m" }
        return "\(whole / 86_400)d \(padded(whole / 3600 % 24))h"
    }

    /// `512 B`, `12.3 kB`, `4.5 MB`: units of a thousand.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        var unit = "B"
        for larger in ["kB", "MB", "GB", "TB", "PB"] where value >= 999.5 {
            value /= 1000
            unit = larger
        }
        return unit == "B" ? "\(count) B" : "\(decimal(value, digits: value < 99.95 ? 1 : 0)) \(unit)"
    }

    /// `1,234,567`.
    static func count(_ number: Int) -> String {
        var text = ""
        let digits = String(number.magnitude)
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// A number and its noun: `1 photo`, `34 photos`.
    static func count(_ number: Int, of noun: String) -> String {
        count(number) + " " + (number == 1 ? noun : noun.hasSuffix("h") ? noun + "es" : noun + "s")
    }

    /// Things one after the other, the first three of many: `a, b, c and 12 more`.
    static func list(_ things: [String]) -> String {
        things.count <= 4
            ? things.joined(separator: ", ")
            : things[..<3].joined(separator: ", ") + " and \(count(things.count - 3)) more"
    }

    /// What is suspended: `suspended`, `downloads suspended`; nil when nothing is.
    static func suspended(_ isSuspended: Bool, downloads: Bool, filtrations: Bool) -> String? {
        if isSuspended { return "suspended" }
        let parts = (downloads ? ["downloads"] : []) + (filtrations ? ["filtrations"] : [])
        return parts.isEmpty ? nil : parts.joined(separator: " and ") + " suspended"
    }

    /// `8.1/s`, `1,234/s`.
    static func rate(_ perSecond: Double) -> String {
        (perSecond < 99.95 ? decimal(perSecond, digits: 1) : count(Int(perSecond.rounded()))) + "/s"
    }

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

    private static func decimal(_ value: Double, digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
