import DarkroomImaging

extension WorkerConfiguration {
    /// Makes this program the helper process of its own workers; see `PhotoWorkerConfiguration` in Darkroom. In a
    /// helper process this function never returns.
    package mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        if HelperService.isHelper { HelperService(customFilters: customFilters).run() }
        helperArguments = ["darkroom-photo-helper"] + arguments
        helperVariables = HelperEnvironment.names.union(environment)
    }

    /// The helper processes of a worker; nil if it has none.
    func makeHelpers() -> PhotoHelpers? {
        helperArguments.map {
            PhotoHelpers(
                arguments: $0, variables: helperVariables, photoTimeout: photoTimeout,
                maxPixels: maxPixels ?? DevelopOptions.standardMaxPixels)
        }
    }

    /// Why this configuration is invalid; nil if it is valid.
    var helperProblem: InvalidHelper? {
        if HelperService.isHelper {
            return InvalidHelper(
                description:
                    "this process was started as a helper and creates a worker: call useThisProgramAsHelper() before")
        }
        guard isolatesEveryPhoto, helperArguments == nil else { return nil }
        return InvalidHelper(
            description: "isolatesEveryPhoto is set, and there is no helper program: call useThisProgramAsHelper()")
    }
}

struct InvalidHelper: Error, Equatable, CustomStringConvertible {
    package let description: String
}
