import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomTransfer
import DarkroomWorker

/// Options for downloads: allowed addresses, limits and timeouts.
struct FetchOptions: ParsableArguments {
    @Option(
        help: """
            Concurrent requests to one host; auto: it is learned, from 4 to 32, or to 100 with HTTP/2, as many as the host \
            answers without delay.
            """, valueName: "count|auto")
    var perHost: PerHost = .auto
    @Flag(help: "Use HTTP/1.1 also with servers that offer HTTP/2.") var http1: Bool
    @Option(
        help: "The most requests to one host in a time, such as 10/s or 30/m.", valueName: "count/unit",
        synonyms: ["throttle", "limit-rate", "rate-limit", "delay"])
    var rate: RequestRate?
    @Option(help: "The most requests of the worker to all hosts together in a time.", valueName: "count/unit")
    var rateTotal: RequestRate?
    @Option(
        help: "How long a host may be silent or refuse all requests before its photos fail.", valueName: "duration")
    var patience: Duration = .seconds(60)
    @Option(
        help: "The name servers, as addresses with optional ports; by default those of the system.",
        valueName: "address[:port]")
    var nameServers: [String]
    @Option(help: "The longest time to connect.", valueName: "duration") var connectTimeout: Duration = .seconds(10)
    @Option(help: "The longest time without data from a server.", valueName: "duration")
    var stallTimeout: Duration = .seconds(30)
    @Option(
        help: """
            The minimum data per second from a server, averaged over 10 s after the first 10 s, unless most servers are \
            slow; 0B: no minimum.
            """, valueName: "size")
    var minRate: ByteSize = ByteSize(bytes: 4 << 10)
    @Option(help: "The longest time for one attempt.", valueName: "duration") var timeout: Duration = .seconds(300)
    @Option(help: "The largest download.", valueName: "size") var maxDownload: ByteSize = .mebibytes(64)
    @Option(
        help: """
            The largest accepted picture, in pixels; by default 100M, or 1000M if its pixels are never in memory as a whole.
            """, valueName: "count")
    var maxPixels: Quantity?
    @Option(help: "The most redirects that are followed.", valueName: "count") var maxRedirects: Int = 5
    @Option(help: "How long a photo is tried again after a temporary error of its own.", valueName: "duration")
    var retryFor: Duration = .seconds(90)
    @Option(
        help: "The most further attempts in this time.", valueName: "count",
        synonyms: ["tries"]) var retries: Int = 100
    @Option(
        help: """
            A header line for requests, such as "Accept: image/*". With HOST= or *.DOMAIN= before it, the header is \
            sent only to these hosts, over https at port 443. HOST:PORT= selects another port, http://HOST= also \
            allows http; localhost and private addresses do not need http://.
            """, valueName: "[host=]line",
        synonyms: ["H"])
    var header: [String]
    @Option(
        help: "A file with such headers, one per line; the process list does not show them.", valueName: "file")
    var headerFile: [String]
    @Option(
        help: "The User-Agent header.", valueName: "text",
        synonyms: ["A", "agent"])
    var userAgent: String = "darkroom/\(darkroomVersion)"
    @Flag(
        help: """
            Do not keep photos whose server sends X-Robots-Tag with noai, noimageai, noindex or noimageindex, or \
            TDM-Reservation: 1.
            """)
    var skipOptedOut: Bool
    @Flag(help: "Allow downloads from loopback, private and link-local addresses.") var allowPrivate: Bool
    @Option(help: "Allow downloads from this network, such as 10.1.0.0/16 or fd00::/8.", valueName: "network")
    var allowNetworks: [NetworkRange]
    @Option(help: "Download only from this host, or with *.example.org from its subdomains.", valueName: "host")
    var allowHosts: [HostPattern]
    @Option(help: "Never download from this host, even after a redirect; overrides other options.", valueName: "host")
    var denyHosts: [HostPattern]
    @Option(help: "Allow file: URLs below this folder.", valueName: "folder") var filesUnder: [String]
    @Option(
        help: "For URLs with the first host and port, connect to the second pair; an empty part is that of the URL.",
        valueName: "host:port:host:port")
    var connectTo: [String]
    @Option(
        help: """
            Certificate authorities (PEM) for https, in place of those of the system.
            """, valueName: "file", environment: "DARKROOM_CA")
    var ca: String?
    @Option(
        help: """
            Fetch through this proxy: http, https or socks5h. It looks up the names of the hosts, and its address must be \
            allowed. A password belongs in the environment variable.
            """, valueName: "scheme://[user:password@]host[:port]", environment: "DARKROOM_PROXY")
    var proxy: String?

    func validate() throws {
        if let count = perHost.count { try require(WorkerBounds.slots, count, "--per-host") }
        for (rate, option) in [(rate, "--rate"), (rateTotal, "--rate-total")] {
            guard let rate, !WorkerBounds.requestRates.contains(rate.perSecond) else { continue }
            throw ValidationError("\(option) \(rate.argumentText): from 1 in 1,000 s to 10,000/s")
        }
        for server in nameServers where !NameServers.isServer(server) {
            throw ValidationError(
                "--name-servers \"\(server)\": write an address, such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]")
        }
        try require(WorkerBounds.patience, patience, "--patience")
        try require(WorkerBounds.patience, retryFor, "--retry-for")
        try require(WorkerBounds.retries, maxRedirects, "--max-redirects")
        try require(WorkerBounds.retries, retries, "--retries")
        try require(WorkerBounds.rates, minRate, "--min-rate")
        try require(WorkerBounds.bytes, maxDownload, "--max-download")
        if let maxPixels { try require(WorkerBounds.pixels, maxPixels, "--max-pixels") }
        try require(WorkerBounds.timeouts, connectTimeout, "--connect-timeout")
        try require(WorkerBounds.timeouts, stallTimeout, "--stall-timeout")
        try require(WorkerBounds.timeouts, timeout, "--timeout")
        guard WorkerBounds.isUserAgent(userAgent) else {
            throw ValidationError("--user-agent \"\(userAgent)\": it has invisible characters; leave them out")
        }
        _ = try headers
        for pairs in connectTo where ConnectRule(pairs) == nil {
            throw ValidationError(
                "--connect-to \"\(pairs)\": write HOST:PORT:HOST:PORT, for example photos.example:80:127.0.0.1:8080")
        }
        if let ca {
            try mustBeReadable(ca, "--ca")
            if let problem = TransferConfiguration.problem(ofAuthorities: ca) {
                throw ValidationError("--ca \(ca): \(problem)")
            }
        }
        try checkProxy()
    }

    /// Errors do not show the URL, because it may contain a password.
    private var proxyServer: ProxyServer? {
        get throws {
            do throws(InvalidProxy) {
                return try proxy.map { text throws(InvalidProxy) in try ProxyServer(parsing: text) }
            } catch {
                throw ValidationError("--proxy: \(error.problem)")
            }
        }
    }

    private func checkProxy() throws {
        var transfer = TransferConfiguration()
        transfer.proxy = try proxyServer
        transfer.allowPrivate = allowPrivate
        transfer.allowedNetworks = allowNetworks
        guard let proxy = transfer.proxy, let problem = transfer.problemOfProxy else { return }
        throw ValidationError("--proxy \(proxy): \(problem)")
    }

    /// The configuration for downloads.
    /// - Parameter fileFolders: Folders whose files may be read, in addition to those of `--files-under`.
    /// - Throws: ``CommandError`` if a folder does not exist, ``ValidationError`` if a header file is invalid.
    func transferConfiguration(fileFolders: [String] = []) throws -> TransferConfiguration {
        var transfer = TransferConfiguration()
        transfer.perHost = perHost.count
        transfer.usesHTTP2 = !http1
        transfer.rate = rate?.perSecond
        transfer.totalRate = rateTotal?.perSecond
        transfer.patience = patience
        transfer.nameServers = nameServers.isEmpty ? nil : nameServers.joined(separator: ",")
        transfer.retryTime = retryFor
        transfer.connectTimeout = connectTimeout
        transfer.stallTimeout = stallTimeout
        transfer.minBytesPerSecond = minRate.bytes
        transfer.timeout = timeout
        transfer.maxBytes = maxDownload.bytes
        transfer.maxRedirects = maxRedirects
        transfer.retries = retries
        transfer.headers = try headers
        transfer.userAgent = userAgent
        transfer.skipsOptedOut = skipOptedOut
        transfer.allowPrivate = allowPrivate
        transfer.allowedNetworks = allowNetworks
        transfer.allowedHosts = allowHosts
        transfer.deniedHosts = denyHosts
        transfer.fileFolders = fileFolders
        for folder in filesUnder { transfer.fileFolders.append(try existingFolder(folder, "--files-under")) }
        transfer.connectTo = connectTo
        transfer.authorities = ca.map(absolutePath)
        transfer.proxy = try proxyServer
        return transfer
    }

    /// The headers of `--header` and of the header files. Errors do not show the values, because they may be secrets.
    var headers: [RequestHeader] {
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
}

extension NetworkRange: ExpressibleByArgument {
    package init(argument: String) throws {
        do throws(InvalidNetworkRange) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }
}

extension HostPattern: ExpressibleByArgument {
    package init(argument: String) throws {
        do throws(InvalidHostPattern) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }
}
