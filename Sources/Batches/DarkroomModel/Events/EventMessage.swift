/// The members of a flat JSON object. Messages of the events channel have this form.
struct EventMessage {
    private enum Value {
        case bool(Bool)
        case int(Int)
        case string(String)
        case ints([Int])
        case members([String: String])
    }

    private let values: [String: Value]

    /// Returns nil if the bytes are not a JSON object. Members that are null or of an unsupported type are skipped.
    init?(_ json: [UInt8]) {
        guard let values = json.withUnsafeBytes(Self.values) else { return nil }
        self.values = values
    }

    func bool(_ name: String) -> Bool? { if case .bool(let value)? = values[name] { value } else { nil } }
    func int(_ name: String) -> Int? { if case .int(let value)? = values[name] { value } else { nil } }
    func string(_ name: String) -> String? { if case .string(let value)? = values[name] { value } else { nil } }
    func ints(_ name: String) -> [Int]? { if case .ints(let value)? = values[name] { value } else { nil } }

    /// The members of the object `name` that are strings, by key.
    func members(_ name: String) -> [String: String]? {
        if case .members(let value)? = values[name] { value } else { nil }
    }

    /// The text of a member; nil if the bytes are not a JSON object with a text of that name.
    static func string(_ name: String, in json: [UInt8]) -> String? {
        json.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var found: String?
            do throws(JSONScanner.Failure) {
                try scanner.members { (scanner, key) throws(JSONScanner.Failure) in
                    if text(key) == name, try scanner.kind() == .string {
                        found = text(try scanner.string())
                    } else {
                        try scanner.skipValue()
                    }
                }
            } catch {
                return nil
            }
            return scanner.peek() == nil ? found : nil
        }
    }

    private static func values(_ bytes: UnsafeRawBufferPointer) -> [String: Value]? {
        var scanner = JSONScanner(bytes)
        var values: [String: Value] = [:]
        do throws(JSONScanner.Failure) {
            try scanner.members { (scanner, key) throws(JSONScanner.Failure) in
                values[text(key)] = try value(&scanner)
            }
        } catch {
            return nil
        }
        return scanner.peek() == nil ? values : nil
    }

    /// Reads a value. Returns nil for null and for unsupported types.
    private static func value(_ scanner: inout JSONScanner) throws(JSONScanner.Failure) -> Value? {
        switch try scanner.kind() {
        case .string: return .string(text(try scanner.string()))
        case .number: return int(try word(&scanner)).map(Value.int)
        case .literal:
            let word = try word(&scanner)
            return word == "null" ? nil : .bool(word == "true")
        case .array:
            var list: [Int?] = []
            try scanner.elements { (scanner) throws(JSONScanner.Failure) in list.append(int(try word(&scanner))) }
            let ints = list.compactMap { $0 }
            return ints.count == list.count ? .ints(ints) : nil
        case .object:
            var members: [String: String] = [:]
            try scanner.members { (scanner, key) throws(JSONScanner.Failure) in
                let name = text(key)
                if try scanner.kind() == .string {
                    members[name] = text(try scanner.string())
                } else {
                    try scanner.skipValue()
                }
            }
            return .members(members)
        }
    }

    /// Reads a value and returns its unparsed text.
    private static func word(_ scanner: inout JSONScanner) throws(JSONScanner.Failure) -> String {
        _ = scanner.peek()  // skips white space
        let start = scanner.position
        try scanner.skipValue()
        return String(decoding: scanner.bytes.part(start..<scanner.position), as: UTF8.self)
    }

    /// A number within ``StoredBounds/numbers``. Lua writes large numbers with an exponent.
    private static func int(_ word: String) -> Int? {
        guard let int = Int(word) ?? Double(word).flatMap({ Int(exactly: $0) }), StoredBounds.numbers.contains(int)
        else { return nil }
        return int
    }

    private static func text(_ text: JSONScanner.Text) -> String {
        var scratch: [UInt8] = []
        return text.withBytes(&scratch) { String(decoding: $0, as: UTF8.self) }
    }
}
