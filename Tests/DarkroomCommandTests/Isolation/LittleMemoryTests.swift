import DarkroomTestSupport
import Foundation
import Testing

/// If encoders have too little memory, they write a valid picture or fail.
@Suite struct LittleMemoryTests {
    private static let sample = TestFiles.samples + "/hubble_deep_field.jpg"

    /// Limits of the address space in MB: too small for the libraries, slightly too small for the encoder, and enough.
    @Test(arguments: [300, 440, 480, 2000]) func writtenPicturesAreValid(megabytes: Int) throws {
        let folder = try ScratchFolder()
        let file = folder.path("small.avif")
        let log = folder.path("log")
        let process = try BoundProcess(
            ["prlimit", "--as=\(megabytes * 1_000_000)", Program.executable.path, "develop", Self.sample, file],
            log: log)
        #expect(process.wait(within: .seconds(120)))
        guard FileManager.default.fileExists(atPath: file) else {
            #expect(megabytes < 2000 && process.exitStatus != 0, "neither a file nor an error at \(megabytes) MB")
            return
        }
        let read = try Program.run("develop", file, folder.path("read.jpg"))
        #expect(read.status == 0, "\(read.standardError)")
    }
}
