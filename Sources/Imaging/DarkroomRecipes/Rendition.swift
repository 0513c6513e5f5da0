/// One output of a photo, written as `NAME = CHAIN; SETTING=VALUE; ...`.
package struct Rendition: Sendable, Hashable {
    /// The name of a folder of the output.
    package let name: String
    package let chain: FilterChain
    package let settings: EncodingSettings

    /// Creates a rendition. The name must be valid.
    package init(name: String, chain: FilterChain, settings: EncodingSettings = EncodingSettings()) {
        precondition(Self.problem(ofName: name) == nil, "an invalid name of a rendition")
        self.name = name
        self.chain = chain
        self.settings = settings
    }

    package init(parsing text: String) throws(ChainSyntaxError) {
        var parser = RenditionParser(TextScanner(text))
        self = try parser.rendition()
    }

    /// The reason why a name is invalid; nil if it is valid.
    package static func problem(ofName name: String) -> String? {
        if name.lowercased() == "manifest" { return "the name manifest belongs to Darkroom; write another name" }
        guard name.isName(with: "_-."), name.first != ".", name.first != "-" else {
            return "a name is 1 to 64 letters, digits, \"_\", \"-\" and \".\", and does not begin with \"-\" or \".\""
        }
        return nil
    }
}

extension Rendition: CustomStringConvertible {
    package var description: String {
        "\(name) = \(chain)" + (settings == EncodingSettings() ? "" : "; \(settings)")
    }
}
