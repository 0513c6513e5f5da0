import ArgumentParsing
import Darkroom
import ErrorExpectations
import Testing

@testable import DarkroomCommand

/// The words of the command line for remedies.
@Suite struct CommandWordingTests {
    static let batch = BatchID("20261121-090501123-7f3a")
    static let other = BatchID("20261121-090501999-0001")

    /// Each remedy that names a command or an option.
    static let remedies: [Remedy] = [
        .resume(batch, .everything), .resume(batch, .downloads), .resume(nil, .filtrations), .suspend(batch),
        .cancel(batch), .prioritize(batch, .veryHigh), .clearFocus(batch), .removeDependency(of: batch, on: other),
        .forget(batch), .forgetFinished, .submitAgain(insteadOf: batch), .submitAgainOverwriting, .feedRest(batch),
        .feedGrownList(batch), .retry(batch), .retry(nil), .retryWithList(batch), .takeOutputBack(batch), .overwrite,
        .listPhotos(inOutput: "/a b"), .listBatches, .showProblems, .startWorker, .allowOutput, .allowFiles,
        .allowMoreConnections, .changeRate, .acceptSlowerDownloads, .allowAddresses, .allowMorePixels, .allowMoreTime,
        .showHosts, .checkNames, .checkOutput, .checkReplicas, .useSmallerWindow, .useLargerOperations,
        .useSmallerOperations, .chooseColumns, .chooseQuotes, .readQuotesAsText, .includeSubfolders,
    ]

    @Test(arguments: remedies) func commandsAndOptionsInTheTextExist(remedy: Remedy) throws {
        let text = RemedyWording.commands.text(remedy)
        let named = text.matches(of: #/darkroom ([a-z]+)/#).map { String($0.output.1) }
        let options = text.matches(of: #/--([a-z-]+)/#).map { String($0.output.0) }
        #expect(!named.isEmpty || !options.isEmpty, "\(text)")
        let commands = DarkroomProgram.configuration.subcommands
        for name in named {
            #expect(commands.contains { $0.configuration.name == name }, "\(text)")
        }
        let meant = named.isEmpty ? commands : commands.filter { named.contains($0.configuration.name) }
        let help = try meant.map { try helpOf($0.configuration.name) }.joined()
        for option in options { #expect(help.contains(option), "\(text)") }
    }

    private func helpOf(_ command: String) throws -> String {
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot([command, "--help", "all"])
        }
        return end.standardOutput
    }

    @Test(arguments: remedies) func otherSurfacesNameNoOption(remedy: Remedy) {
        let text = RemedyWording.neutral.text(remedy)
        #expect(!text.contains("--") && !text.contains("darkroom"), "\(text)")
    }

    @Test func commandsOfARunNameItsFolder() {
        let wording = RemedyWording.commands(naming: ("\(Self.batch)", "/my run"))
        #expect(wording.text(.forget(Self.batch)) == "remove it with: darkroom forget '/my run' --force")
        #expect(wording.text(.cancel(Self.other)) == "end it with: darkroom cancel \(Self.other)")
    }

    @Test func commandsForOtherTerminalsHaveTheAddressOfRedisOnce() {
        let wording = RemedyWording.commands(forOthers: Self.batch, "/out --redis ...", address: "--redis ...")
        #expect(
            wording.text(.resume(Self.batch, .downloads)) == "go on with: darkroom resume /out --redis ... --downloads")
        #expect(
            wording.text([.startWorker, .advice("wait")]) == "start one with: darkroom worker (with --redis ...); wait")
        #expect(wording.text(.allowOutput) == "start a worker with --outputs-under and a folder above it")
    }

    @Test func errorsHaveTheWordsOfTheirSurface() {
        let error = DarkroomError(.noSuchBatch, "cancel", "no batch \"x\": did you mean \"y\"?", [.listBatches])
        #expect(
            RemedyWording.commands.text(of: error)
                == "no batch \"x\": did you mean \"y\"? \"darkroom batches\" lists them")
        #expect(
            error.message == "no batch \"x\": did you mean \"y\"? the list of batches shows those that exist")
        #expect(RemedyWording.commands.text(of: CancellationError()) == "\(CancellationError())")
    }
}
