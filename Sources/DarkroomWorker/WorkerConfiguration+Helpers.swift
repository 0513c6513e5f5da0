import DarkroomExecution

extension WorkerConfiguration {
    /// Makes this program, with these arguments, the helper process of its own workers: a photo of a quarantined operation is
    /// developed by a helper, so that a crash ends the helper and no further worker.
    ///
    /// ```swift
    /// var configuration = WorkerConfiguration()
    /// try configuration.register(Checksum.self, as: "checksum")
    /// configuration.useThisProgramAsHelper()   // in a helper process this does not return
    /// ```
    ///
    /// Where the program was started as a helper this serves its worker, with the operations that are registered by now, and never
    /// returns: so it is called early in `main`, before anything that a helper should not do. Without helpers a photo
    /// ends five workers before it and what is left of its operation fail as `crashed`.
    ///
    /// A helper is confined before it gets a photo: it computes and starts threads, and can open no file, make no connection and
    /// start no process. An operation that needs a file reads it before this call.
    /// - Parameters:
    ///   - arguments: The arguments of the helper.
    ///   - environment: The names of the environment variables that a helper gets besides those of ``HelperEnvironment``.
    public mutating func useThisProgramAsHelper(
        arguments: [String] = Array(CommandLine.arguments.dropFirst()), environment: Set<String> = []
    ) {
        if HelperService.isAsked { HelperService(operations: operations).run() }
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
        if HelperService.isAsked {
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
public struct InvalidHelper: Error, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String
}
