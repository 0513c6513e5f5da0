import ArgumentParsing
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(name: "run", abstract: "x")
    func run() throws {}
}
