import DarkroomText

/// A piece of an HTML page. Only tags that this code names become markup; all texts are escaped.
struct HTML: Sendable, Equatable {
    /// The markup.
    let markup: String

    private init(markup: String) { self.markup = markup }

    /// Text, which may come from an untrusted source.
    static func text(_ text: String) -> HTML {
        HTML(markup: escaped(PrintableText.escaped(text, keeping: ["\n"])))
    }

    /// An element with its children.
    static func element(_ name: StaticString, _ attributes: Attributes = [:], _ children: HTML...) -> HTML {
        element(name, attributes, children)
    }

    static func element(_ name: StaticString, _ attributes: Attributes = [:], _ children: [HTML]) -> HTML {
        HTML(markup: "<\(name)\(attributes.markup)>\(children.map(\.markup).joined())</\(name)>")
    }

    /// An element with a text.
    static func element(_ name: StaticString, _ attributes: Attributes = [:], _ text: String) -> HTML {
        element(name, attributes, .text(text))
    }

    /// An element without an end tag, such as `input`.
    static func void(_ name: StaticString, _ attributes: Attributes = [:]) -> HTML {
        HTML(markup: "<\(name)\(attributes.markup)>")
    }

    static func joined(_ pieces: [HTML]) -> HTML { HTML(markup: pieces.map(\.markup).joined()) }

    static let empty = HTML(markup: "")

    /// The attributes of an element, in order. An attribute whose value is nil is left out; an attribute with an empty
    /// value is written without a value.
    struct Attributes: ExpressibleByDictionaryLiteral {
        fileprivate let markup: String

        init(dictionaryLiteral elements: (StaticString, String?)...) {
            markup = elements.compactMap { name, value in
                value.map { $0.isEmpty ? " \(name)" : " \(name)=\"\(HTML.escaped(PrintableText.escaped($0)))\"" }
            }.joined()
        }

        private init(markup: String) { self.markup = markup }

        static func + (left: Attributes, right: Attributes) -> Attributes {
            Attributes(markup: left.markup + right.markup)
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
