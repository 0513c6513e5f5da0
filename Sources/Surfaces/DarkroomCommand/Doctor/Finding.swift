/// One result of a check, with its verdict.
struct Finding: Sendable, Equatable {
    /// The subject of the check, such as `Redis persistence`.
    let check: String
    let verdict: Verdict
    /// The facts that were measured or read.
    let found: String
    /// The problem and its remedy; nil if the verdict is ok.
    let advice: String?

    /// A finding without a problem.
    static func ok(_ check: String, _ found: String) -> Finding {
        Finding(check: check, verdict: .ok, found: found, advice: nil)
    }

    /// A finding about something that works now, but is slow or may fail later.
    static func warning(_ check: String, _ found: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .warning, found: found, advice: advice)
    }

    /// A finding about a fault that loses photos or batches, or that stops the work.
    static func problem(_ check: String, _ found: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .problem, found: found, advice: advice)
    }
}

/// The verdict of a finding.
enum Verdict: String, Sendable, CaseIterable {
    case ok, warning, problem
}

/// One check of `darkroom doctor`. The caller gathers the facts and passes them in, so that tests can pass any facts.
protocol Check {
    /// The findings, in order.
    var findings: [Finding] { get }
}
