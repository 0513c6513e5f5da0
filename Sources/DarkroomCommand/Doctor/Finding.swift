/// What a check has found, and whether it is well.
struct Finding: Sendable, Equatable {
    /// What was looked at: `Redis persistence`.
    let check: String
    let verdict: Verdict
    /// What was found.
    let found: String
    /// What is wrong with it and what to do; nil when it is well.
    let advice: String?

    /// Something that is well.
    static func ok(_ check: String, _ found: String) -> Finding {
        Finding(check: check, verdict: .ok, found: found, advice: nil)
    }

    /// Something that works, but not as well as it could, or not for long.
    static func warning(_ check: String, _ found: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .warning, found: found, advice: advice)
    }

    /// Something with which photos or batches are lost, or nothing goes on.
    static func problem(_ check: String, _ found: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .problem, found: found, advice: advice)
    }
}

/// Whether something is well.
enum Verdict: String, Sendable, CaseIterable {
    case ok, warning, problem
}

/// One thing that the doctor looks at: its facts are gathered before, so that any can be given to it.
protocol Check {
    /// What it finds, in order.
    var findings: [Finding] { get }
}
