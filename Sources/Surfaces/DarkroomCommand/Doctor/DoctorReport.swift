import Darkroom

/// The findings of `darkroom doctor` and their output.
struct DoctorReport {
    let findings: [Finding]

    var verdict: Verdict {
        findings.contains { $0.verdict == .problem }
            ? .problem : findings.contains { $0.verdict == .warning } ? .warning : .ok
    }

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

    /// Writes the findings as a table. On a terminal the advice follows below the table.
    func write(to output: StandardOutput, _ options: TableOptions) throws {
        var table = Table(["check", "verdict", "found"] + (output.isTerminal ? [] : ["advice"]), options, to: output)
        for finding in findings {
            let cells = [finding.check, finding.verdict.rawValue, finding.found].map(Cell.text)
            try table.add(cells + (output.isTerminal ? [] : [.text(finding.advice ?? "")]))
        }
        try table.finish()
        guard output.isTerminal else { return }
        for line in summary { try output.line(HumanText.safe(line)) }
        try output.flush()
    }

    /// A paragraph with finding and advice for each warning and problem; one line if there is nothing to report.
    private var summary: [String] {
        guard verdict != .ok else { return ["", "All is well."] }
        return [.problem, .warning].flatMap { verdict in
            findings.filter { $0.verdict == verdict }.flatMap { finding in
                ["", "\(verdict): \(finding.check): \(finding.found)", "  \(finding.advice ?? "")"]
            }
        }
    }
}
