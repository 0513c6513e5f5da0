import Darkroom

extension FactSheet {
    /// Writes one fact per line: aligned on a terminal, separated by a tab in a pipe.
    func write(to output: StandardOutput) throws {
        let width = lines.map(\.name.count).max() ?? 0
        for line in lines {
            let space = String(repeating: " ", count: width - line.name.count + 2)
            let name = output.isTerminal ? line.name + space : line.name.drop { $0 == " " } + "\t"
            try output.line(name + HumanText.safe(line.value))
        }
        try output.flush()
    }
}
