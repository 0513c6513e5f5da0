import DarkroomText

/// An sRGB colour with opacity, 8 bits a channel, written as in CSS: `#f80`, `#ff8800`, `#ff880080`, `orange`.
package struct Colour: Sendable, Hashable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8
    /// 0 is transparent, 255 is opaque.
    package let alpha: UInt8

    package static let black = Colour(red: 0, green: 0, blue: 0)
    package static let white = Colour(red: 255, green: 255, blue: 255)

    package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Parses `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `transparent` or a CSS name. Returns nil for any other text.
    package init?(parsing text: String) {
        let text = text.lowercased()
        if text == "transparent" {
            self.init(red: 0, green: 0, blue: 0, alpha: 0)
        } else if let name = Self.names[text] {
            self.init(red: UInt8(name >> 16), green: UInt8(name >> 8 & 0xFF), blue: UInt8(name & 0xFF))
        } else {
            let digits = text.unicodeScalars.dropFirst().compactMap { $0.isASCII ? Character($0).hexDigitValue : nil }
            guard text.hasPrefix("#"), digits.count == text.unicodeScalars.count - 1 else { return nil }
            let channels: [UInt8]
            switch digits.count {
            case 3, 4: channels = digits.map { UInt8($0 * 0x11) }
            case 6, 8:
                channels = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
            default: return nil
            }
            self.init(
                red: channels[0], green: channels[1], blue: channels[2], alpha: channels.count > 3 ? channels[3] : 255)
        }
    }
}

extension Colour: CustomStringConvertible {
    /// `#rrggbb`, or `#rrggbbaa` if the colour is not opaque.
    package var description: String {
        let channels = [red, green, blue] + (alpha < 255 ? [alpha] : [])
        return "#" + channels.map { $0.padded(to: 2, radix: 16) }.joined()
    }
}
