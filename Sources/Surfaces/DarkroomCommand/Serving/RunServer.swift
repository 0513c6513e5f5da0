import Darkroom
import DarkroomConcurrency
import DarkroomFiles
import DarkroomHTTP
import DarkroomText
import DarkroomWeb
import DarkroomWorker
import Foundation

/// The web server beside a `darkroom run`: it shows the batch of the run, and only to users who know its token.
final class RunServer {
    private static let port: UInt16 = 8080
    private static let cacheBytes = 256 << 20

    private let server: WebServer
    private let scratch: SocketFolder

    init(_ client: DarkroomClient, of options: BatchOptions) throws {
        guard let scratch = SocketFolder.make(in: NSTemporaryDirectory()) else {
            throw CommandError("--serve: no folder for thumbnails in \(NSTemporaryDirectory()): \(systemErrorText())")
        }
        self.scratch = scratch
        var configuration = WebConfiguration(
            access: .token(AccessRule.newToken()), scratchFolder: scratch.path, helpers: WebServerOptions.helpers())
        configuration.photosUnder = [options.output, options.originals].filter { !$0.isEmpty }
        configuration.cacheBytes = Self.cacheBytes
        do {
            server = try Self.start(client, configuration)
        } catch {
            Self.remove(scratch.path)
            throw error
        }
    }

    /// A free port is used if another program uses the usual port.
    private static func start(_ client: DarkroomClient, _ configuration: WebConfiguration) throws -> WebServer {
        var configuration = configuration
        configuration.address = ListenAddress(host: "127.0.0.1", port: port)
        do {
            return try WebServer(client, configuration)
        } catch is HTTPServerError {
            configuration.address = ListenAddress(host: "127.0.0.1", port: 0)
            return try WebServer(client, configuration)
        }
    }

    var url: String { server.url(withToken: true) }

    /// Serves until the user interrupts the command.
    func waitForInterrupt(_ interruption: RunInterruption) {
        let interrupted = Signal()
        interruption.onFirst { interrupted.raise() }
        printToStandardError("the photos are still shown at \(url); Ctrl-C ends this")
        if !interruption.isRequested { interrupted.wait() }
    }

    func stop() {
        server.stop()
        Self.remove(scratch.path)
    }

    private static func remove(_ scratch: String) {
        let (parent, name) = Path.split(scratch)
        do {
            try Folder(trusted: parent ?? "/").removeTree(name)
        } catch {
            printToStandardError("warning: cannot remove the thumbnails in \(scratch): \(error.text)")
        }
    }
}
