import ArgumentParsing
import Darkroom
import DarkroomHTTP
import DarkroomText
import DarkroomWeb
import DarkroomWorker

extension ListenAddress: ExpressibleByArgument {
    package init(argument: String) throws {
        guard let address = ListenAddress(argument, defaultPort: 8080) else {
            throw InvalidValue("write an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080")
        }
        self = address
    }

    package var argumentText: String { description }
}

/// Options for the web server: its address, its users, and the photos that it shows.
struct WebServerOptions: ParsableArguments {
    @Option(
        help: "The address and port to listen on. Port 0 chooses a free port.", valueName: "address",
        synonyms: ["port", "p", "address", "addr", "bind", "host-port"])
    var listen: ListenAddress = ListenAddress(host: "127.0.0.1", port: 8080)
    @Option(help: "Show the photos below this folder.", valueName: "folder") var photosUnder: [String]
    @Option(
        help: "Let users submit lists whose photos are written below this folder, and show the photos below it.",
        valueName: "folder")
    var outputsUnder: String?
    @Flag(help: "Refuse everything that changes batches or the cluster.") var readOnly: Bool
    @Option(
        help: """
            The token is in this file. By default, the command creates a token at each start, and prints it as a part of \
            the address.
            """, valueName: "file")
    var tokenFile: String?
    @Option(
        help: "Programs with the token in this file can read /metrics and nothing else.", valueName: "file")
    var metricsTokenFile: String?
    @Flag(help: "Let every user of this machine use the server; only for a loopback address.") var noToken: Bool
    @Option(
        help: "Instead of the token: users for whom an authenticating proxy sets this header field.", valueName: "name")
    var trustHeader: String?
    @Option(
        help: "The IP address of the proxy; the header of other clients does not count.", valueName: "address")
    var trustProxy: [String]
    @Option(
        help: """
            With --no-token or --trust-header: a host name by which browsers call the server, besides localhost and the \
            address of --listen.
            """, valueName: "name")
    var host: [String]
    @Option(help: "The certificate chain (PEM) for https.", valueName: "file") var tlsCert: String?
    @Option(help: "The private key (PEM) of the certificate.", valueName: "file") var tlsKey: String?
    @Option(help: "The path below which a proxy passes requests on, such as /darkroom.", valueName: "path")
    var prefix: String = ""
    @Option(
        help: """
            The folder for thumbnails and for lists that are being fed. By default, \
            $XDG_CACHE_HOME/darkroom/serve or ~/.cache/darkroom/serve.
            """, valueName: "folder")
    var cache: String?
    @Option(help: "The most bytes of the kept thumbnails.", valueName: "size") var cacheSize: ByteSize = .mebibytes(
        1024)
    @Flag(help: "Let users submit lists from loopback, private and link-local addresses.") var allowPrivate: Bool

    func validate() throws {
        try require(0...Int.max, cacheSize, "--cache-size")
        if (tlsCert == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-cert and --tls-key: give both, or none of them")
        }
        for (file, option) in [
            (tlsCert, "--tls-cert"), (tlsKey, "--tls-key"), (tokenFile, "--token-file"),
            (metricsTokenFile, "--metrics-token-file"),
        ] {
            if let file { try mustBeReadable(file, option) }
        }
        let given = [tokenFile != nil, noToken, trustHeader != nil].count { $0 }
        guard given < 2 else {
            throw ValidationError("--token-file, --no-token and --trust-header: give only one of them")
        }
        if (trustHeader == nil) != trustProxy.isEmpty {
            throw ValidationError(
                "--trust-header and --trust-proxy: give both; other clients than the proxy could send the header themselves"
            )
        }
        if let trustHeader, trustHeader.wholeMatch(of: #/[A-Za-z0-9!#$%&'*+.^_`|~-]+/#) == nil {
            throw ValidationError(
                "--trust-header \"\(trustHeader)\": not the name of a header field, such as X-Remote-User")
        }
        if !host.isEmpty, !noToken, trustHeader == nil {
            throw ValidationError("--host: the host name matters only with --no-token or --trust-header; leave it out")
        }
        for address in trustProxy where IPAddress.canonical(address) == nil {
            throw ValidationError("--trust-proxy \"\(address)\": not an IP address")
        }
        if noToken, !listen.isLoopback {
            throw ValidationError(
                "--listen \(listen) with --no-token: every user of the network could control the cluster; use --token-file, "
                    + "or listen on 127.0.0.1")
        }
        guard prefix.isEmpty || prefix.wholeMatch(of: #/(/[A-Za-z0-9._~-]+)+/#) != nil, !prefix.contains("/.") else {
            throw ValidationError("--prefix \"\(prefix)\": write a path such as /darkroom, without a slash at its end")
        }
        if readOnly, outputsUnder != nil {
            throw ValidationError(
                "--outputs-under with --read-only: a read-only server takes no lists; to show the photos, use --photos-under"
            )
        }
    }

    /// The folder that contains the output folders of submitted batches.
    func outputs() throws -> String? { try outputsUnder.map { try existingPlace($0, "--outputs-under") } }

    /// The configuration of the server.
    /// - Parameter scratch: The folder for thumbnails and uploads.
    func configuration(scratch: String) throws -> WebConfiguration {
        var configuration = WebConfiguration(access: try access, scratchFolder: scratch, helpers: Self.helpers())
        configuration.address = listen
        configuration.hosts = host
        if let metricsTokenFile {
            let token = try Self.token(in: metricsTokenFile, "--metrics-token-file")
            if case .token(let other) = configuration.access, other == token {
                throw ValidationError(
                    "--metrics-token-file \(metricsTokenFile): it contains the token of --token-file, which can do everything; "
                        + "write another one, for example from: openssl rand -hex 16")
            }
            configuration.metricsToken = token
        }
        configuration.prefix = prefix
        configuration.isReadOnly = readOnly
        configuration.photosUnder = try photosUnder.map { try existingPlace($0, "--photos-under") }
        if let outputs = try outputs() { configuration.photosUnder.append(outputs) }
        configuration.cacheBytes = cacheSize.bytes
        if let tlsCert, let tlsKey {
            configuration.certificate = ServerCertificate(
                chain: try linesOfFile(tlsCert, "--tls-cert").joined(separator: "\n"),
                key: try linesOfFile(tlsKey, "--tls-key").joined(separator: "\n"))
        }
        return configuration
    }

    /// The helper processes for thumbnails.
    /// - Parameter program: the path of this program.
    static func helpers(program: String = "/proc/self/exe") -> PhotoHelpers {
        PhotoHelpers(
            program: program, arguments: ["darkroom-photo-helper"], variables: HelperEnvironment.names,
            photoTimeout: .seconds(20),
            maxPixels: WebConfiguration.maxPixels)
    }

    private var access: AccessRule {
        get throws {
            if noToken { return .everybody }
            if let trustHeader { return .header(trustHeader, from: Set(trustProxy)) }
            guard let tokenFile else { return .token(AccessRule.newToken()) }
            return .token(try Self.token(in: tokenFile, "--token-file"))
        }
    }

    private static func token(in file: String, _ option: String) throws -> String {
        let token = try linesOfFile(file, option).first { !$0.isEmpty } ?? ""
        guard token.utf8.count >= AccessRule.leastTokenLength, token.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw ValidationError(
                "\(option) \(file): the first line must be a token of at least \(AccessRule.leastTokenLength) "
                    + "printable characters without spaces; for example from: openssl rand -hex 16")
        }
        return token
    }
}
