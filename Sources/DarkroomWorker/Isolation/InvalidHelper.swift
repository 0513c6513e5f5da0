/// Helper processes are not used as they must be.
package struct InvalidHelper: Error, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do.
    package let description: String
}

extension WorkerConfiguration {
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
