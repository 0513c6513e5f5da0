import DarkroomExecution

extension WorkerConfiguration {
    /// Makes this program the helper process of its own workers; see `PhotoWorkerConfiguration` in Darkroom. In a helper process
    /// this never returns.
    package mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        if HelperService.isHelper { HelperService(operations: operations).run() }
        helperArguments = ["darkroom-photo-helper"] + arguments
        helperVariables = HelperEnvironment.names.union(environment)
    }

    /// What helper processes need to know; nil without helpers.
    var helpers: HelperConfiguration? {
        helperArguments.map {
            HelperConfiguration(
                arguments: $0, variables: helperVariables, limits: helperLimits, photoTimeout: photoTimeout,
                maxPixels: maxPixels)
        }
    }

    /// Why no worker can have this configuration; nil when it can.
    var helperProblem: InvalidHelper? {
        if HelperService.isHelper {
            return InvalidHelper(
                description:
                    "this process was started to be a helper and makes a worker: call useThisProgramAsHelper() before")
        }
        guard isolatesEveryPhoto, helperArguments == nil else { return nil }
        return InvalidHelper(
            description: "every photo is to be isolated, and there is no helper program: call useThisProgramAsHelper()")
    }
}

/// Helper processes are not used as they must be.
package struct InvalidHelper: Error, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do.
    package let description: String
}
