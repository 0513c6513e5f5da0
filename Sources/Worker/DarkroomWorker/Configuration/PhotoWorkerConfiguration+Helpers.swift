import DarkroomImaging

extension PhotoWorkerConfiguration {
    /// Uses this program, with these arguments, as the helper process of its workers. A helper develops photos on which
    /// two workers have crashed, and photos whose filtration cannot be stopped inside the worker.
    ///
    /// ```swift
    /// var configuration = PhotoWorkerConfiguration()
    /// try configuration.register("checksum") { Checksum() }
    /// configuration.useThisProgramAsHelper()  // in a helper process this does not return
    /// ```
    ///
    /// In a process that was started as a helper, this call serves the worker with the custom filters registered so far,
    /// and never returns. Therefore call it early in `main`, before any work that a helper should not do. Without
    /// helpers, a photo that crashes its decoder ends five workers, one after the other; then the unfinished photos of
    /// its operation fail with the reason ``FailureReason/crashed``.
    ///
    /// A helper is confined before it gets a photo: it can compute and start threads, but it cannot open files, make
    /// connections or start processes. If a filter needs a file, read the file before this call.
    /// - Parameters:
    ///   - arguments: the arguments of the helper.
    ///   - environment: the names of further environment variables that are passed to the helper, in addition to those
    ///     that its libraries need.
    public mutating func useThisProgramAsHelper(
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
    let description: String
}
