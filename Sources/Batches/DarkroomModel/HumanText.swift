import DarkroomText
import Foundation

/// Formats numbers and units for users.
package enum HumanText {
    /// A duration, for example `850 ms`, `4.2 s`, `3m 12s`, `2h 05m` or `3d 04h`.
    package static func duration(_ seconds: Double) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 59.95 { return "\(decimal(seconds, digits: 1)) s" }
        let whole = Int(min(seconds, 1e15).rounded())
        if whole < 3600 { return "\(whole / 60)m \(padded(whole % 60))s" }
        if whole < 86_400 { return "\(whole / 3600)h \(padded(whole / 60 % 60))m" }
        return "\(whole / 86_400)d \(padded(whole / 3600 % 24))h"
    }

    /// A number of bytes in decimal units, for example `512 B`, `12.3 kB` or `4.5 MB`.
    package static func bytes(_ count: Int) -> String {
        var value = Double(count)
        var unit = "B"
        for larger in ["kB", "MB", "GB", "TB", "PB"] where value >= 999.5 {
            value /= 1000
            unit = larger
        }
        return unit == "B" ? "\(count) B" : "\(decimal(value, digits: value < 99.95 ? 1 : 0)) \(unit)"
    }

    /// A number with separators, for example `1,234,567`.
    package static func count(_ number: Int) -> String {
        var text = ""
        let digits = String(number.magnitude)
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// A number with its noun, for example `1 photo` or `34 photos`.
    package static func count(_ number: Int, of noun: String) -> String {
        count(number) + " " + (number == 1 ? noun : noun.hasSuffix("h") ? noun + "es" : noun + "s")
    }

    /// Joins texts into a list. If there are more than four, only the first three are shown: `a, b, c and 12 more`.
    package static func list(_ things: [String]) -> String {
        things.count <= 4
            ? things.joined(separator: ", ")
            : things[..<3].joined(separator: ", ") + " and \(count(things.count - 3)) more"
    }

    /// A phrase for the flags, for example `suspended` or `downloads suspended`; nil if no flag is set.
    package static func suspended(_ isSuspended: Bool, downloads: Bool, filtrations: Bool) -> String? {
        if isSuspended { return "suspended" }
        let parts = (downloads ? ["downloads"] : []) + (filtrations ? ["filtrations"] : [])
        return parts.isEmpty ? nil : parts.joined(separator: " and ") + " suspended"
    }

    /// A rate, for example `8.1/s` or `1,234/s`.
    package static func rate(_ perSecond: Double) -> String {
        (perSecond < 99.95 ? decimal(perSecond, digits: 1) : count(Int(min(perSecond.rounded(), 1e15)))) + "/s"
    }

    /// Escapes untrusted text (names, URLs, messages of servers) so that it appears as part of one line. Escapes bytes
    /// that would control a terminal, end the line or begin another column.
    package static func safe(_ text: String) -> String { PrintableText.escaped(text) }

    private static func decimal(_ value: Double, digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
