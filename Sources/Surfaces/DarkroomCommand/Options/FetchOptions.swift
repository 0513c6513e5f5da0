import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomTransfer

/// Options for downloads: allowed addresses, limits and timeouts.
struct FetchOptions: WorkerOptions {
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
    var patience: Duration = DownloadRules().patience
    @Option(
        help: "The name servers, as addresses with optional ports; by default those of the system.",
        valueName: "address[:port]")
    var nameServers: [String]
    @Option(help: "The longest time to connect.", valueName: "duration") var connectTimeout: Duration = DownloadRules()
        .connectTimeout
    @Option(help: "The longest time without data from a server.", valueName: "duration")
    var stallTimeout: Duration = DownloadRules().stallTimeout
    @Option(
        help: """
            The minimum data per second from a server, averaged over 10 s after the first 10 s, unless most servers are \
            slow; 0B: no minimum.
            """, valueName: "size")
    var minRate = ByteSize(bytes: DownloadRules().minBytesPerSecond)
    @Option(help: "The longest time for one attempt.", valueName: "duration") var timeout: Duration = DownloadRules()
        .timeout
    @Option(help: "The largest download.", valueName: "size")
    var maxDownload = ByteSize(bytes: DownloadRules().maxBytes)
    @Option(
        help: """
            The largest accepted picture, in pixels; by default 100M, or 1000M if its pixels are never in memory as a whole.
            """, valueName: "count")
    var maxPixels: Quantity?
    @Option(help: "The most redirects that are followed.", valueName: "count") var maxRedirects: Int = DownloadRules()
        .maxRedirects
    @Option(help: "How long a photo is tried again after a temporary error of its own.", valueName: "duration")
    var retryFor: Duration = DownloadRules().retryTime
    @Option(
        help: "The most further attempts in this time.", valueName: "count",
        synonyms: ["tries"]) var retries: Int = DownloadRules().retries
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
    var userAgent: String = DownloadRules().userAgent
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

    /// Sets all settings except the folders, see ``folders``.
    func fill(_ configuration: inout PhotoWorkerConfiguration) throws {
        configuration.maxPixels = maxPixels?.value
        var rules = DownloadRules()
        rules.connectionsPerHost = perHost.count
        rules.usesHTTP2 = !http1
        rules.requestsPerSecond = rate?.perSecond
        rules.totalRequestsPerSecond = rateTotal?.perSecond
        rules.patience = patience
        rules.nameServers = nameServers
        rules.retryTime = retryFor
        rules.connectTimeout = connectTimeout
        rules.stallTimeout = stallTimeout
        rules.minBytesPerSecond = minRate.bytes
        rules.timeout = timeout
        rules.maxBytes = maxDownload.bytes
        rules.maxRedirects = maxRedirects
        rules.retries = retries
        rules.headers = try headers.map(\.text)
        rules.userAgent = userAgent
        rules.skipsOptedOut = skipOptedOut
        rules.allowsPrivateAddresses = allowPrivate
        rules.allowedNetworks = allowNetworks.map(\.description)
        rules.allowedHosts = allowHosts.map(\.description)
        rules.deniedHosts = denyHosts.map(\.description)
        rules.connectTo = connectTo
        if let ca {
            try mustBeReadable(ca, "--ca")
            rules.certificateAuthorities = absolutePath(ca)
        }
        rules.proxy = proxy
        configuration.downloadRules = rules
    }

    /// The folders of `--files-under`.
    /// - Throws: ``CommandError`` if a folder does not exist.
    var folders: [String] {
        get throws(CommandError) {
            var folders: [String] = []
            for folder in filesUnder { folders.append(try existingFolder(folder, "--files-under")) }
            return folders
        }
    }

    /// The headers of `--header` and of the header files. Errors do not show the values, because they may be secrets.
    var headers: [(text: String, parsed: RequestHeader)] {
        get throws {
            var lines = header.map { (option: "--header", text: $0) }
            for file in headerFile {
                for (number, line) in try linesOfFile(file, "--header-file").enumerated()
                where !line.isEmpty && !line.hasPrefix("#") {
                    lines.append(("--header-file \(file), line \(number + 1),", line))
                }
            }
            return try lines.map { option, text in
                do throws(InvalidRequestHeader) {
                    return (text, try RequestHeader(parsing: text))
                } catch {
                    throw ValidationError("\(option) \"\(error.name)\": \(error.problem)")
                }
            }
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
