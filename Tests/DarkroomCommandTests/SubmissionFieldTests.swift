import ArgumentParsing
import Darkroom
import ErrorExpectations
import Testing

@testable import DarkroomCommand

/// The options of `submit` and `run` that fill the form of a submission.
@Suite struct SubmissionFieldTests {
    /// Messages name options that exist. Only the list and the whole encoding have no option.
    @Test func everyFieldNamesAnOptionOfSubmit() {
        let options = SubmitCommand().optionNames()
        let others = Submission.Field.allCases.filter { !options.contains($0.option) }
        #expect(others == [.list, .encoding])
        #expect(Set(Submission.Field.allCases.map(\.option)).count == Submission.Field.allCases.count)
    }

    @Test func optionsFillTheForm() throws {
        let line = """
            submit l -o /o --originals /p --remote-output --name n --priority high --after x --after y --after-success \
            --filter sepia --format webp --quality 50 --strip --on-damaged accept --animation keep --file-name {index} \
            --overwrite --redact-urls --keep-times --operation-size 7 --lease 1m --window 2k --retain forever --recursive \
            --webhook https://h.example/ --url-column 2 --name-column t --quotes literal --sample 3 --seed 5 --replicas 2
            """
        let words = line.split(separator: " ").map(String.init)
        let form = try #require(try DarkroomProgram.parseAsRoot(words) as? SubmitCommand).submission()
        #expect(form.output == "/o" && form.originals == "/p" && form.remoteOutput && form.overwrite)
        #expect(form.name == "n" && form.priority == .high && form.batchesBefore == ["x", "y"] && form.afterSuccess)
        #expect(form.filters.count == 1 && form.encoding.description == "format=webp; quality=50; metadata=none")
        #expect(form.damagedPhotos == .accept && form.keepsAnimations && form.fileName == "{index}")
        #expect(form.redactURLs && form.keepsTimes && form.operationSize == 7 && form.lease == .seconds(60))
        #expect(form.window == 2000 && form.retain == nil && form.webhook == "https://h.example/")
        #expect(form.list.isRecursive && form.list.urlColumn == "2" && form.list.nameColumn == "t")
        #expect(form.list.quotes == .literal && form.list.sample == 3 && form.list.seed == 5 && form.replicas == 2)
        #expect(form.list.location == "l" && form.list.limit == nil)
    }

    /// A value that no option accepts is tested in `UsageTests`; these values are refused by the form.
    @Test(arguments: [
        ("--limit 0", "--limit 0: at least 1"), ("--sample 0", "--sample 0: at least 1"),
        ("--limit 1 --sample 1", "--limit: there is --sample, too; give only one of them"),
        ("--seed 1", "--seed: only with --sample"), ("--operation-size 1001", "--operation-size 1001: from 1 to 1000"),
        ("--window 0", "--window 0: at least 1"), ("--replicas -1", "--replicas -1: at least 0"),
        ("--after-success", "--after-success: name the batches that must succeed, with --after"),
        ("--filter none --filter flip", "--filter none: none stands alone"),
        ("--format png --chroma 444", "--chroma: no effect on png"),
        ("--quality 0", "--quality 0: write a whole number"),
        ("--rendition a=flip;chroma=444;format=png", "--rendition: character 23: chroma: no effect on png"),
        ("--name \u{7}", "--name \""), ("--webhook https://a:secret@h", "--webhook: the URL has a user"),
    ])
    func errorNamesTheOption(_ options: String, _ message: String) throws {
        let words = ["submit", "list", "-o", "/out"] + options.split(separator: " ").map(String.init)
        let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(words) }
        #expect(end.code == .usage && end.standardError.contains("error: \(message)"), "\(end.standardError)")
        #expect(!end.standardError.contains("a:secret"))
    }
}
