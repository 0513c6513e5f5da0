import ArgumentParsing
import Darkroom
import DarkroomTransfer

/// What may be fetched, from where, and how patiently.
struct FetchOptions: ParsableArguments {
    @Option(help: "Connections to one host at a time.", valueName: "count") var perHost: Int = 6
    @Option(help: "How long connecting may take.", valueName: "duration") var connectTimeout: Duration = .seconds(10)
    @Option(help: "How long a server may be silent.", valueName: "duration") var stallTimeout: Duration = .seconds(30)
    @Option(
        help: "The least a second that a server must send, averaged over 30 s after the first 30 s; 0B is no least.",
        valueName: "size")
    var minRate: ByteSize = ByteSize(bytes: 1 << 10)
    @Option(help: "How long one attempt may take.", valueName: "duration") var timeout: Duration = .seconds(300)
    @Option(help: "The largest download.", valueName: "size") var maxDownload: ByteSize = .mebibytes(64)
    @Option(help: "The largest picture, in pixels.", valueName: "count") var maxPixels: Quantity = 100_000_000
    @Option(help: "Redirects followed.", valueName: "count") var maxRedirects: Int = 5
    @Option(help: "Further attempts after a fault that may pass.", valueName: "count") var retries: Int = 3
    @Option(
        help: """
            A header of requests, as "Accept: image/*"; with HOST= before it of those to HOST or *.DOMAIN only, over https at port \
            443. HOST:PORT= is for another port, http://HOST= also for http, which localhost and private addresses need not name.
            """, valueName: "[host=]line")
    var header: [String]
    @Option(
        help: "A file with such headers, a line each, which the process list does not show.", valueName: "file")
    var headerFile: [String]
    @Option(help: "What servers are told the client is.", valueName: "text")
    var userAgent: String = "darkroom/\(darkroomVersion)"
    @Flag(help: "Fetch also from loopback, private and link-local addresses.") var allowPrivate: Bool
    @Option(help: "Fetch also from this network, as 10.1.0.0/16 or fd00::/8.", valueName: "network")
    var allowNetworks: [NetworkRange]
    @Option(help: "Fetch from this host only, or with *.example.org from all below.", valueName: "host")
    var allowHosts: [HostPattern]
    @Option(help: "Never fetch from this host, also when redirected to it; wins.", valueName: "host")
    var denyHosts: [HostPattern]
    @Option(help: "Read file: URLs below this folder.", valueName: "folder") var filesUnder: [String]
    @Option(
        help: "Connect to the second host and port where a URL has the first; an empty part stands for any.",
        valueName: "host:port:host:port")
    var connectTo: [String]

    func validate() throws {
        try requireAtLeast(1, perHost, "--per-host")
        try requireAtLeast(0, maxRedirects, "--max-redirects")
        try requireAtLeast(0, retries, "--retries")
        try requireAtLeast(1, maxDownload.bytes, "--max-download")
        try requireAtLeast(1, maxPixels.value, "--max-pixels")
        for (duration, name) in [
            (connectTimeout, "--connect-timeout"), (stallTimeout, "--stall-timeout"), (timeout, "--timeout"),
        ] where duration < .milliseconds(1) {
            throw ValidationError("\(name) \(duration.argumentText): at least 1ms")
        }
        _ = try headers
        for pairs in connectTo where !Self.isConnectTo(pairs) {
            throw ValidationError(
                "--connect-to \"\(pairs)\": write HOST:PORT:HOST:PORT, as photos.example:80:127.0.0.1:8080")
        }
    }

    /// How downloads are done.
    /// - Parameter fileFolders: folders below which files may be read besides those of `--files-under`.
    /// - Throws: ``CommandError`` when one of those is not there, ``ValidationError`` when a file of headers is no such.
    func transferConfiguration(fileFolders: [String] = []) throws -> TransferConfiguration {
        var transfer = TransferConfiguration()
        transfer.perHost = perHost
        transfer.connectTimeout = connectTimeout
        transfer.stallTimeout = stallTimeout
        transfer.minBytesPerSecond = minRate.bytes
        transfer.timeout = timeout
        transfer.maxBytes = maxDownload.bytes
        transfer.maxRedirects = maxRedirects
        transfer.retries = retries
        transfer.headers = try headers
        transfer.userAgent = userAgent
        transfer.allowPrivate = allowPrivate
        transfer.allowedNetworks = allowNetworks
        transfer.allowedHosts = allowHosts
        transfer.deniedHosts = denyHosts
        transfer.fileFolders = fileFolders
        for folder in filesUnder { transfer.fileFolders.append(try existingFolder(folder, "--files-under")) }
        transfer.connectTo = connectTo
        return transfer
    }

    /// The headers of `--header` and of the files; errors name no value, which may be a secret.
    private var headers: [RequestHeader] {
        get throws {
            var headers: [RequestHeader] = []
            for text in header {
                do throws(InvalidRequestHeader) {
                    headers.append(try RequestHeader(parsing: text))
                } catch {
                    throw ValidationError("--header \"\(error.name)\": \(error.problem)")
                }
            }
            for file in headerFile {
                for (number, line) in try linesOfFile(file, "--header-file").enumerated()
                where !line.isEmpty && !line.hasPrefix("#") {
                    do throws(InvalidRequestHeader) {
                        headers.append(try RequestHeader(parsing: line))
                    } catch {
                        throw ValidationError(
                            "--header-file \(file), line \(number + 1), \"\(error.name)\": \(error.problem)")
                    }
                }
            }
            return headers
        }
    }

    /// Three colons outside of brackets, which IPv6 addresses are written in.
    private static func isConnectTo(_ pairs: String) -> Bool {
        var depth = 0
        var parts = [""]
        for character in pairs {
            if character == "[" { depth += 1 } else if character == "]" { depth -= 1 }
            if character == ":", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        guard parts.count == 4 else { return false }
        return [parts[1], parts[3]].allSatisfy { $0.isEmpty || (UInt16($0) ?? 0) > 0 }
    }
}

extension NetworkRange: ExpressibleByArgument {
    /// Reads a network.
    package init(argument: String) throws {
        do throws(InvalidNetworkRange) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }
}

extension HostPattern: ExpressibleByArgument {
    /// Reads a host or `*.` and a domain.
    package init(argument: String) throws {
        do throws(InvalidHostPattern) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }
}
