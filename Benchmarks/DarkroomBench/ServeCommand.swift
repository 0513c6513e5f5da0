import ArgumentParsing
import DarkroomPhotoServer
import Foundation

/// The HTTP server of `darkroom-bench develop`. It prints its port and serves until its standard input is closed.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "serve", abstract: "Serve the files of a folder over HTTP on the loopback interface.",
        examples: ["darkroom-bench serve ~/Pictures < /dev/tty"], shouldDisplay: false)

    @Argument(help: "The folder.") var folder: String

    func run() throws {
        let server = try PhotoServer(folder: folder)
        print(server.port)
        fflush(nil)
        while !FileHandle.standardInput.availableData.isEmpty {}
        server.stop()
    }
}
