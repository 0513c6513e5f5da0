import DarkroomCoordinator
import DarkroomLists
import DarkroomStorage
import DarkroomTestSupport
import Testing

/// The names of the files that a batch of a list writes.
@Suite struct ListFileNamesTests {
    @Test func templateKeepsTheFilesOfTheListDistinct() throws {
        let scratch = try ScratchFolder()
        let list = try PhotoListReader(scratch.write("a.txt", "http://a/1.jpg\n"))
        #expect(try list.fileNameTemplate(nil).description == "{index}-{name}")
        #expect(try list.fileNameTemplate("{index}").description == "{index}")
        #expect(throws: FileNameTemplate.Problem.self) { try list.fileNameTemplate("{name}") }

        let plist = "<plist><dict><key>1.jpg</key><string>http://a/1.jpg</string></dict></plist>"
        let dictionary = try PhotoListReader(scratch.write("a.plist", plist))
        #expect(try dictionary.fileNameTemplate(nil).description == "{stem}")
        #expect(try dictionary.fileNameTemplate("{name}").description == "{name}")
    }
}
