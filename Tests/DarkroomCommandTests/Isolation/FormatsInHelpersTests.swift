import Darkroom
import DarkroomImaging
import DarkroomRecipes
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// Confined helper processes read and write the same formats as unconfined processes.
@Suite(.redisServer) struct FormatsInHelpersTests {
    @Test func everyFormatIsReadAndWritten() throws {
        let queue = try Queue()
        let urls = try ImageFormat.allCases.map { format in
            let path = "\(queue.folder)/photo.\(format.fileExtension)"
            try Data(SamplePhoto.bytes(format)).write(to: URL(fileURLWithPath: path))
            return "file://\(path)"
        }
        let worker = try queue.start("worker", "--isolate", "--files-under", queue.folder)
        defer { worker.send(SIGTERM) }
        // One batch at a time, since an output folder belongs to one batch at a time.
        for format in ImageFormat.allCases {
            let id = try queue.submit(urls) { options in
                options.encoding = PhotoEncoding("format=\(format.rawValue)")
                options.fileName = "\(format.rawValue)-{index}"
                options.filters = [.sepia(), PhotoFilter("tilt-shift=radius:3")]
            }
            let ended = try queue.run("wait", "\(id)", "--timeout", "50s")
            let failures = try queue.run("photos", "\(id)", "--state", "failed").standardOutput
            #expect(ended.status == 0, "\(format): \(failures)")
            for index in urls.indices {
                let name = String(format: "%06d", index)
                let file = "\(queue.folder)/\(format.rawValue)-\(name).\(format.fileExtension)"
                let bytes = FileManager.default.contents(atPath: file) ?? Data()
                #expect(bytes.withUnsafeBytes { ImageFormat(contentOf: $0) } == format, "\(file)")
            }
        }
    }
}
