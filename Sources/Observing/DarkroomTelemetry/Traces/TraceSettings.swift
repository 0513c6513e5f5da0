import DarkroomModel
import DarkroomTransfer

/// The settings for the export of traces, from the environment variables of OpenTelemetry:
/// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
///
/// As the specification demands, a variable with an empty value counts as not set, and a variable with an invalid value
/// is ignored with a warning.
package struct TraceSettings: Sendable {
    /// The URL to which spans are posted.
    let url: String
    /// Header lines of each request.
    let headers: [String]
    let sampler: TraceSampler
    /// The attributes of the resource, including `service.name`, sorted by their names.
    let resource: [(key: String, value: String)]

    /// The default value of `service.name`.
    static let serviceName = "darkroom"

    /// - Parameters:
    ///   - instance: the value of `service.instance.id`, unique for each process.
    ///   - warn: called with a text about each variable that is ignored.
    /// - Returns: nil if no endpoint is given, if traces are switched off, or if the sampler takes no photo.
    package init?(_ environment: [String: String], instance: String, warn: (String) -> Void) {
        let variables = environment.filter { !$0.value.isEmpty }
        guard variables["OTEL_SDK_DISABLED"]?.lowercased() != "true", variables["OTEL_TRACES_EXPORTER"] != "none",
            let url = Self.url(variables, warn)
        else { return nil }
        for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            guard let other = variables[name], other != "http/json" else { continue }
            warn("\(name) is ignored: spans are sent with http/json, mostly to port 4318, not with \(other)")
        }
        sampler = TraceSampler(variables, warn)
        guard sampler.ratio > 0 else { return nil }
        self.url = url
        headers = Self.headers(variables, warn)
        var resource = [
            "service.name": Self.serviceName, "service.version": darkroomVersion, "service.instance.id": instance,
        ]
        if let text = variables["OTEL_RESOURCE_ATTRIBUTES"] {
            if let pairs = Self.pairs(text) {
                for (key, value) in pairs { resource[key] = value }
            } else {
                warn("OTEL_RESOURCE_ATTRIBUTES is ignored: it is not a list KEY=VALUE,KEY=VALUE with percent-encoding")
            }
        }
        if let name = variables["OTEL_SERVICE_NAME"] { resource["service.name"] = name }
        self.resource = resource.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func url(_ variables: [String: String], _ warn: (String) -> Void) -> String? {
        if let url = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
            if Origin(url: url) != nil { return url }
            warn("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is ignored: it is not an http or https URL")
        }
        guard var base = variables["OTEL_EXPORTER_OTLP_ENDPOINT"] else { return nil }
        guard Origin(url: base) != nil else {
            warn("OTEL_EXPORTER_OTLP_ENDPOINT is ignored: it is not an http or https URL")
            return nil
        }
        while base.hasSuffix("/") { base.removeLast() }
        return base + "/v1/traces"
    }

    /// The header lines of each request. Warnings do not contain the value of the variable, which may be a secret.
    private static func headers(_ variables: [String: String], _ warn: (String) -> Void) -> [String] {
        let own = ["Content-Type: application/json", "User-Agent: darkroom/\(darkroomVersion)"]
        guard let text = variables["OTEL_EXPORTER_OTLP_HEADERS"] else { return own }
        guard let pairs = pairs(text), pairs.allSatisfy({ isHeader($0.key, $0.value) }) else {
            warn("OTEL_EXPORTER_OTLP_HEADERS is ignored: it is not a list NAME=VALUE,NAME=VALUE with percent-encoding")
            return own
        }
        return own + pairs.map { "\($0.key): \($0.value)" }
    }

    /// Whether the name is a token and the value has no control characters (RFC 9110, sections 5.1 and 5.5).
    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let isToken = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        return isToken && value.utf8.allSatisfy { $0 >= 32 && $0 != 127 }
    }

    /// Parses `KEY=VALUE,KEY=VALUE` with percent-encoded values, the format of W3C Baggage without properties.
    /// - Returns: the pairs; nil if the text does not have this format.
    static func pairs(_ text: String) -> [(key: String, value: String)]? {
        var pairs: [(key: String, value: String)] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, let key = decoded(sides[0]), let value = decoded(sides[1]), !key.isEmpty
            else { return nil }
            pairs.append((key, value))
        }
        return pairs
    }

    /// Removes spaces at both ends, and decodes percent-encoded bytes. Returns nil if an escape is invalid.
    private static func decoded(_ text: Substring) -> String? {
        var rest = text.utf8.drop { $0 == UInt8(ascii: " ") }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let decoded = UInt8(digits, radix: 16)
            else { return nil }
            rest.removeFirst(2)
            bytes.append(decoded)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
