/// A filter with all its arguments, written as `sepia=0.8` or `resize=800x600,fit:inside`.
package struct Filter: Sendable, Hashable {
    /// The filters. The raw value is the name.
    package enum Kind: String, Sendable, CaseIterable {
        case sepia, grayscale, saturate
        case hueRotate = "hue-rotate"
        case invert, brightness, contrast, gamma, tint, duotone, normalize, matrix
        case resize, crop, trim, extend, rotate, flip, flop
        case blur, sharpen, median, pixelate, vignette
        case tiltShift = "tilt-shift"
        case watermark
    }

    package let kind: Kind
    /// Maps the names of parameters to their values. Only optional parameters may be absent.
    let values: [String: ParameterValue]

    /// Creates a filter from arguments, and adds the defaults.
    init(_ kind: Kind, given: [String: ParameterValue]) {
        self.kind = kind
        var values = given
        for parameter in kind.definition.parameters where values[parameter.name] == nil {
            values[parameter.name] = parameter.standard
        }
        self.values = values
    }

    /// The filter with another text as the value of a parameter. The text may be invalid for this parameter.
    package func with(_ name: String, _ text: String) -> PhotoFilter {
        var arguments = values
        arguments[name] = .text(text)
        return PhotoFilter(kind, arguments)
    }

    /// Parses a single filter.
    package init(parsing text: String) throws(ChainSyntaxError) {
        let filters = try [PhotoFilter](parsing: text)
        guard filters.count == 1, let filter = filters[0].builtIn else {
            throw ChainSyntaxError(text, 0..<text.unicodeScalars.count, "write one filter")
        }
        self = filter
    }
}

// MARK: - Arguments

/// Each function returns the value of a parameter. The parameter must exist in the definition of the filter, must have
/// the kind that the function returns, and must be optional exactly if the function returns an optional; anything else
/// is a programming error.
extension Filter {
    package func number(_ name: String) -> Double { required(name, optionalNumber(name)) }

    package func optionalNumber(_ name: String) -> Double? {
        optional(name) { if case .number(let number) = $0 { number } else { nil } }
    }

    /// The value of a parameter that accepts only whole numbers.
    package func whole(_ name: String) -> Int { Int(number(name)) }

    package func optionalWhole(_ name: String) -> Int? { optionalNumber(name).map { Int($0) } }

    package func numbers(_ name: String) -> [Double] {
        required(name, optional(name) { if case .numbers(let numbers) = $0 { numbers } else { nil } })
    }

    package func flag(_ name: String) -> Bool {
        required(name, optional(name) { if case .flag(let isOn) = $0 { isOn } else { nil } })
    }

    package func choice(_ name: String) -> String {
        required(name, optional(name) { if case .choice(let word) = $0 { word } else { nil } })
    }

    /// A colour. Must not be used for a parameter that also accepts words.
    package func colour(_ name: String) -> Colour { required(name, optionalColour(name)) }

    package func optionalColour(_ name: String) -> Colour? {
        optional(name) { if case .colour(let colour) = $0 { colour } else { nil } }
    }

    /// A colour; nil if the value is one of the accepted words.
    package func colourOrWord(_ name: String) -> Colour? {
        if case .colour(let colour) = value(name) { colour } else { nil }
    }

    package func size(_ name: String) -> (width: Int?, height: Int?) {
        let size = required(name, optional(name) { if case .size(let size) = $0 { size } else { nil } })
        return (size.width, size.height)
    }

    package func area(_ name: String) -> CropArea {
        required(name, optional(name) { if case .area(let area) = $0 { area } else { nil } })
    }

    package func ratio(_ name: String) -> AspectRatio? {
        optional(name) { if case .ratio(let ratio) = $0 { ratio } else { nil } }
    }

    package func point(_ name: String) -> FocusPoint? {
        optional(name) { if case .point(let point) = $0 { point } else { nil } }
    }

    package func text(_ name: String) -> String? {
        optional(name) { if case .text(let text) = $0 { text } else { nil } }
    }

    private func value(_ name: String) -> ParameterValue? {
        precondition(kind.definition.parameter(name) != nil, "\(kind.rawValue) has no parameter \(name)")
        return values[name]
    }

    private func optional<Wanted>(_ name: String, _ wanted: (ParameterValue) -> Wanted?) -> Wanted? {
        guard let value = value(name) else { return nil }
        guard let result = wanted(value) else { preconditionFailure("\(name) of \(kind.rawValue) is of another kind") }
        return result
    }

    private func required<Wanted>(_ name: String, _ value: Wanted?) -> Wanted {
        guard let value else { preconditionFailure("\(name) of \(kind.rawValue) is optional") }
        return value
    }
}

// MARK: - Canonical text

extension Filter: CustomStringConvertible {
    /// The name, and in the order of the parameters the first argument and the arguments that differ from their
    /// default.
    package var description: String {
        var written: [String] = []
        var canOmitNames = true
        for (index, parameter) in kind.definition.parameters.enumerated() {
            guard let value = values[parameter.name], index == 0 || value != parameter.standard else {
                canOmitNames = false
                continue
            }
            canOmitNames = canOmitNames && parameter.isPositional
            written.append(canOmitNames ? value.description : "\(parameter.name):\(value)")
        }
        return kind.rawValue + (written.isEmpty ? "" : "=" + written.joined(separator: ","))
    }
}
