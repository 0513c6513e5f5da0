import Testing

@testable import DarkroomTelemetry

/// The environment variables of OpenTelemetry.
@Suite struct TraceSettingsTests {
    private static func read(_ environment: [String: String]) -> (settings: TraceSettings?, warnings: [String]) {
        var warnings: [String] = []
        let settings = TraceSettings(environment, instance: "host-1") { warnings.append($0) }
        return (settings, warnings)
    }

    private static let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"]

    /// Reads the variables, together with an endpoint.
    private static func withEndpoint(_ environment: [String: String]) -> (settings: TraceSettings?, warnings: [String])
    {
        read(endpoint.merging(environment) { $1 })
    }

    @Test func tracesNeedAnEndpoint() {
        #expect(Self.read([:]).settings == nil)
        #expect(Self.read(["OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_TRACES_SAMPLER": "x"]).settings == nil)
        #expect(Self.read([:]).warnings.isEmpty)
    }

    @Test func tracesCanBeSwitchedOff() {
        for off in [["OTEL_SDK_DISABLED": "TRUE"], ["OTEL_TRACES_EXPORTER": "none"]] {
            #expect(Self.withEndpoint(off).settings == nil, "\(off)")
        }
        for on in [["OTEL_SDK_DISABLED": "false"], ["OTEL_TRACES_EXPORTER": "otlp"]] {
            #expect(Self.withEndpoint(on).settings != nil, "\(on)")
        }
    }

    @Test func otherProtocolsAreIgnoredWithAWarning() {
        let read = Self.withEndpoint(["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"])
        #expect(read.settings != nil && read.warnings.count == 1)
        #expect(Self.withEndpoint(["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"]).warnings.isEmpty)
    }

    @Test func pathIsAddedToTheGeneralEndpointOnly() {
        #expect(Self.read(Self.endpoint).settings?.url == "http://localhost:4318/v1/traces")
        #expect(
            Self.read(["OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example/otlp/"]).settings?.url
                == "https://c.example/otlp/v1/traces")
        let both = Self.withEndpoint(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://other:1/x"])
        #expect(both.settings?.url == "http://other:1/x" && both.warnings.isEmpty)
    }

    @Test func invalidEndpointsAreIgnoredWithAWarning() {
        for text in ["localhost:4318", "grpc://c:4317", "http://", "file:///tmp/x"] {
            let read = Self.read(["OTEL_EXPORTER_OTLP_ENDPOINT": text])
            #expect(read.settings == nil, "\(text)")
            #expect(read.warnings == ["OTEL_EXPORTER_OTLP_ENDPOINT is ignored: it is not an http or https URL"])
        }
        let traces = Self.withEndpoint(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "nonsense"])
        #expect(traces.settings?.url == "http://localhost:4318/v1/traces" && traces.warnings.count == 1)
    }

    @Test func samplersHaveTheirRatios() {
        let cases: [(String, String, Double?)] = [
            ("", "", 1), ("always_on", "0.1", 1), ("parentbased_always_on", "", 1), ("always_off", "", nil),
            ("parentbased_always_off", "", nil), ("traceidratio", "0.25", 0.25), ("traceidratio", "", 1),
            ("parentbased_traceidratio", "1e-3", 0.001), ("traceidratio", "0", nil),
        ]
        for (sampler, argument, ratio) in cases {
            let read = Self.withEndpoint(["OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": argument])
            #expect(read.settings?.sampler.ratio == ratio && read.warnings.isEmpty, "\(sampler) \(argument)")
        }
    }

    @Test func invalidSamplersAreIgnoredWithAWarning() {
        for (sampler, argument) in [
            ("jaeger_remote", ""), ("traceidratio", "2"), ("traceidratio", "-0.1"), ("traceidratio", "nan"),
        ] {
            let read = Self.withEndpoint(["OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": argument])
            #expect(read.settings?.sampler.ratio == 1 && read.warnings.count == 1, "\(sampler) \(argument)")
        }
    }

    @Test func samplerTakesItsPartOfTheTraces() throws {
        let settings = try #require(
            Self.withEndpoint(["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"]).settings)
        #expect(settings.sampler.takes(0) && settings.sampler.takes(UInt64.max / 4 - 4096))
        #expect(!settings.sampler.takes(UInt64.max / 4 + 4096) && !settings.sampler.takes(.max))
        #expect(try #require(Self.read(Self.endpoint).settings).sampler.takes(.max))
    }

    @Test func headersAndAttributesAreDecoded() throws {
        let read = Self.withEndpoint([
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b%2Cc, x-team = blue",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test,service.name=ignored,host=%C3%A9",
            "OTEL_SERVICE_NAME": "photos",
        ])
        let settings = try #require(read.settings)
        #expect(read.warnings.isEmpty)
        #expect(settings.headers.contains("api-key: a b,c") && settings.headers.contains("x-team: blue"))
        #expect(settings.headers.contains("Content-Type: application/json"))
        let resource = Dictionary(uniqueKeysWithValues: settings.resource.map { ($0.key, $0.value) })
        #expect(resource["service.name"] == "photos" && resource["deployment.environment"] == "test")
        #expect(resource["host"] == "\u{e9}" && resource["service.instance.id"] == "host-1")
    }

    @Test func invalidListsAreIgnoredWithAWarningThatDoesNotQuoteThem() throws {
        for text in ["hush", "a=hush,", "a=%zz-hush", "a=hush%0d%0ab: c", "a b=hush", "=hush", "a=%ff-hush"] {
            let read = Self.withEndpoint(["OTEL_EXPORTER_OTLP_HEADERS": text])
            #expect(try #require(read.settings).headers.count == 2, "\(text)")
            #expect(read.warnings.count == 1 && !read.warnings[0].contains("hush"), "\(text)")
        }
        let read = Self.withEndpoint(["OTEL_RESOURCE_ATTRIBUTES": "a=b,c"])
        #expect(try #require(read.settings).resource.count == 3 && read.warnings.count == 1)
    }
}
