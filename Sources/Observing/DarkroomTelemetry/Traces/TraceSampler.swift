/// Decides which photos are traced.
struct TraceSampler: Sendable {
    /// The part of the traces that is recorded, from 0 to 1.
    let ratio: Double

    /// Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. The span of a photo has no parent, so the samplers
    /// `parentbased_*` decide like the samplers without this prefix.
    init(_ variables: [String: String], _ warn: (String) -> Void) {
        switch variables["OTEL_TRACES_SAMPLER"] {
        case nil, "always_on", "parentbased_always_on": ratio = 1
        case "always_off", "parentbased_always_off": ratio = 0
        case "traceidratio", "parentbased_traceidratio":
            guard let text = variables["OTEL_TRACES_SAMPLER_ARG"] else {
                ratio = 1
                return
            }
            guard let ratio = Double(text), (0...1).contains(ratio) else {
                warn("OTEL_TRACES_SAMPLER_ARG is ignored: \"\(text)\" is not a number from 0 to 1")
                ratio = 1
                return
            }
            self.ratio = ratio
        case let name?:
            warn(
                "OTEL_TRACES_SAMPLER is ignored: \"\(name)\" is not supported; use always_on, always_off or traceidratio"
            )
            ratio = 1
        }
    }

    /// Whether the trace with this random number as the low half of its id is recorded.
    func takes(_ lowHalf: UInt64) -> Bool { Double(lowHalf >> 11) < ratio * 0x1p53 }
}
