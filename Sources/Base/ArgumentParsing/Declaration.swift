import DarkroomText

/// The common part of options and positional arguments: converts texts to the value of the property.
struct Declaration<Value: Sendable>: Sendable {
    let parsed: ParsedValue<Value>
    let help: String
    let valueName: String
    private let isRequired: Bool
    private let isRepeating: Bool
    private let defaultText: String?
    private let allowedTexts: [String]
    private let store: @Sendable (String) throws -> Void

    func definition(_ kind: ArgumentDefinition.Kind, longName: String) -> ArgumentDefinition {
        ArgumentDefinition(
            kind: kind, longName: longName, valueName: valueName, help: help, defaultText: defaultText,
            allowedTexts: allowedTexts, isRequired: isRequired, isRepeating: isRepeating, store: store,
            isGiven: { [parsed] in parsed.isGiven })
    }
}

extension Declaration where Value: ExpressibleByArgument {
    static func required(help: String, valueName: String) -> Self {
        Self(parsed: ParsedValue(nil), help: help, valueName: valueName, isRequired: true, defaultText: nil)
    }

    static func defaulted(_ value: Value, help: String, valueName: String) -> Self {
        Self(
            parsed: ParsedValue(value), help: help, valueName: valueName, isRequired: false,
            defaultText: value.argumentText)
    }

    private init(
        parsed: ParsedValue<Value>, help: String, valueName: String, isRequired: Bool, defaultText: String?
    ) {
        self.init(
            parsed: parsed, help: help, valueName: valueName, isRequired: isRequired, isRepeating: false,
            defaultText: defaultText, allowedTexts: Value.allArgumentTexts,
            store: { parsed.current = try Value(argument: $0) })
    }
}

extension Declaration {
    static func optional<T: ExpressibleByArgument>(help: String, valueName: String) -> Self where Value == T? {
        let parsed = ParsedValue<Value>(.some(nil))
        return Self(
            parsed: parsed, help: help, valueName: valueName, isRequired: false, isRepeating: false, defaultText: nil,
            allowedTexts: T.allArgumentTexts, store: { parsed.current = try T(argument: $0) })
    }

    static func repeating<T: ExpressibleByArgument>(
        isRequired: Bool, help: String, valueName: String
    ) -> Self where Value == [T] {
        let parsed = ParsedValue<Value>([])
        return Self(
            parsed: parsed, help: help, valueName: valueName, isRequired: isRequired, isRepeating: true,
            defaultText: nil, allowedTexts: T.allArgumentTexts,
            store: { parsed.current.append(try T(argument: $0)) })
    }
}
