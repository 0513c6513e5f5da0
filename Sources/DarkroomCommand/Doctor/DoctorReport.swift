import Darkroom

/// All that the doctor has found, as it is shown.
struct DoctorReport {
    let findings: [Finding]

    /// The worst of all.
    var verdict: Verdict {
        findings.contains { $0.verdict == .problem }
            ? .problem : findings.contains { $0.verdict == .warning } ? .warning : .ok
    }

    /// The document of `--json`.
    var json: JSON {
        [
            "verdict": .string(verdict.rawValue),
            "findings": .array(
                findings.map { finding in
                    [
                        "check": .string(finding.check), "verdict": .string(finding.verdict.rawValue),
                        "found": .string(finding.found), "advice": JSON(finding.advice),
                    ]
                }),
        ]
    }

    /// Writes a table, and on a terminal what to do below it, since a line there may be too short for both.
    func write(to output: StandardOutput) throws {
        var table = Table(["check", "verdict", "found"] + (output.isTerminal ? [] : ["advice"]), to: output)
        for finding in findings {
            let cells = [finding.check, finding.verdict.rawValue, finding.found].map(Cell.text)
            try table.add(cells + (output.isTerminal ? [] : [.text(finding.advice ?? "")]))
        }
        try table.finish()
        guard output.isTerminal else { return }
        for line in summary { try output.line(HumanText.safe(line)) }
        try output.flush()
    }

    /// What is not well and what to do, a paragraph each; or that all is well.
    private var summary: [String] {
        guard verdict != .ok else { return ["", "All is well."] }
        return [.problem, .warning].flatMap { verdict in
            findings.filter { $0.verdict == verdict }.flatMap { finding in
                ["", "\(verdict): \(finding.check): \(finding.found)", "  \(finding.advice ?? "")"]
            }
        }
    }
}
