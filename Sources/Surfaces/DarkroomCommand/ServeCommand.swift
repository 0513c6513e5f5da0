import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import DarkroomStore
import DarkroomWeb

/// `darkroom serve`: shows batches and photos in the browser, and offers the HTTP API.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "serve", abstract: "Show batches and photos in the browser, and offer an HTTP API.",
        discussion: """
            The command prints an address with a token; open it in a browser. The pages show the photos of each batch \
            as a contact sheet, control batches, and list the workers. Photos are shown if they are below \
            --photos-under or --outputs-under; of other batches, the states are shown.

            Programs send the token as "Authorization: Bearer <token>"; /api/v1/openapi.json describes the API.
            """,
        group: "Monitor", synonyms: ["web", "ui", "http", "dashboard"],
        examples: [
            "darkroom serve --photos-under /mnt/photos",
            "darkroom serve --listen 0.0.0.0:8080 --token-file token --outputs-under /mnt/photos",
            "darkroom serve --read-only",
        ],
        mainOptions: [
            "redis", "listen", "photos-under", "outputs-under", "read-only", "token-file", "no-token",
            "tls-cert", "tls-key", "cache", "log-level",
        ])

    @OptionGroup(title: "Server options") var server: WebServerOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions
    @OptionGroup(title: "Log options") var logging: LogOptions

    func run() throws {
        // Signals must be handled before the first thread starts.
        let stopping = Signal()
        StopSignals.handle { count in
            if count > 1 { endProcess(.interrupted) }
            stopping.raise()
        }
        let logger = logging.logger("serve", to: logging.log())
        let client = try redis.connect { lack in
            logger.warning("too few replicas have confirmed a change", ["detail": .text("\(lack)")])
        }
        for warning in try RedisRequirements.check(client.location.redis) {
            logger.warning("the settings of Redis can cause problems", ["detail": .text(warning)])
        }
        let outages = OutageLog(client.location, logger)
        defer { outages.close() }
        let folder = try ServerFolder(server.cache)
        defer { withExtendedLifetime(folder) {} }  // the object holds the lock
        var configuration = try server.configuration(scratch: folder.path)
        configuration.logger = logger
        let feeds = try server.outputs().map { outputs in
            try ListFeeds(
                client, in: folder.path, outputs: outputs, mayBePrivate: server.allowPrivate, logger: logger)
        }
        configuration.submission = feeds
        let web = try WebServer(client, configuration)
        let output = StandardOutput()
        // The token in a file of the user is a secret that must not get into logs.
        try output.line("Darkroom is at \(web.url(withToken: server.tokenFile == nil))")
        try output.flush()
        feeds?.resumeInterrupted()
        stopping.wait()
        feeds?.stop()  // first, because requests wait until the feeds of their lists have begun
        web.stop()
    }
}
