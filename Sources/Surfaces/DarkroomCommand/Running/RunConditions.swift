import Darkroom
import DarkroomCoding
import DarkroomText
import DarkroomWorker

/// The options of a run that decide which photos fail, but do not change the files of the others. A later run compares
/// these options with its own options, and runs those failed photos again that a changed option may mend.
struct RunConditions: Codable, Equatable {
    /// An option that may mend failures, and the reasons of these failures.
    struct Mending {
        let option: String
        let reasons: Set<FailureReason>
    }

    private let allowPrivate: Bool
    private let allowNetworks: [String]
    private let allowHosts: [String]
    private let denyHosts: [String]
    private let filesUnder: [String]
    private let connectTo: [String]
    private let ca: String?
    /// The digest of the proxy's URL.
    private let proxy: String?
    /// The digest of the headers and the User-Agent. The headers may be secrets.
    private let headers: String
    /// nil if the worker learns the number.
    private let perHost: Int?
    // nil in the conditions of versions without the option.
    private let http1: Bool?
    private let skipsOptedOut: Bool?
    private let patience: Duration?
    private let retryTime: Duration?
    private let retries: Int
    private let maxRedirects: Int
    private let maxDownload: Int
    private let maxPixels: Int
    private let minRate: Int
    private let timeout: Duration
    private let connectTimeout: Duration
    private let stallTimeout: Duration
    private let photoTimeout: Duration
    private let isolate: Bool
    // The stored state contains the names of the following properties, which are from a time when custom filters were
    // called operations.
    /// The digest of the commands of custom filters.
    private let operations: String
    /// nil in the conditions of versions without the option; in those versions, commands got bytes.
    private let operationInput: String?
    private let operationTimeout: Duration
    private let operationMemory: Int
    private let waitsForDisk: Bool

    /// - Throws: ``ValidationError`` if a header file is invalid.
    init(
        _ fetch: FetchOptions, _ slots: SlotOptions, _ commands: CustomFilterOptions, _ disk: DiskOptions
    ) throws {
        allowPrivate = fetch.allowPrivate
        allowNetworks = fetch.allowNetworks.map(\.description)
        allowHosts = fetch.allowHosts.map(\.description)
        denyHosts = fetch.denyHosts.map(\.description)
        filesUnder = fetch.filesUnder.map(absolutePath)
        connectTo = fetch.connectTo
        ca = fetch.ca.map(absolutePath)
        proxy = fetch.proxy.map { Self.digest([$0]) }
        let lines = try fetch.headers.map(\.parsed).map { header in
            "\(header.line)\t\(header.hosts?.description ?? "")\t\(header.port ?? 0)\t\(header.isSentInPlainText)"
        }
        headers = Self.digest(lines + [fetch.userAgent])
        perHost = fetch.perHost.count
        http1 = fetch.http1
        skipsOptedOut = fetch.skipOptedOut
        patience = fetch.patience
        retryTime = fetch.retryFor
        retries = fetch.retries
        maxRedirects = fetch.maxRedirects
        maxDownload = fetch.maxDownload.bytes
        // The default limit depends on the format, and is at least this number.
        maxPixels = fetch.maxPixels?.value ?? 100_000_000
        minRate = fetch.minRate.bytes
        timeout = fetch.timeout
        connectTimeout = fetch.connectTimeout
        stallTimeout = fetch.stallTimeout
        photoTimeout = slots.photoTimeout
        isolate = slots.isolate
        operations = Self.digest(commands.customFilter.map(\.argumentText) + [commands.customFilterStyle.rawValue])
        // Without `--custom-filter`, `--custom-filter-input` has no effect, so runs with different values count as equal.
        let input = commands.customFilter.isEmpty ? .bytes : commands.customFilterInput
        operationInput = input.rawValue
        operationTimeout = commands.customFilterTimeout
        operationMemory = commands.customFilterMemory.bytes
        waitsForDisk = disk.whenDiskFull == .wait
    }

    private var input: String { operationInput ?? FilterCommand.Input.bytes.rawValue }

    private static func digest(_ texts: [String]) -> String {
        Hexadecimal.text(SHA256Digest.hash(of: Array(texts.joined(separator: "\n").utf8)))
    }

    /// The options that are less strict than before, or different in another way, with the failures that they may mend.
    func mendings(since before: RunConditions) -> [Mending] {
        let ofServer: Set<FailureReason> = [.httpClientError, .httpServerError]
        let ofConnection: Set<FailureReason> = [
            .nameNotFound, .connectFailed, .tlsFailed, .timeout, .stalled, .truncated,
        ]
        let ofHost: Set<FailureReason> = [.hostUnreachable, .hostRefuses, .hostTooSlow]
        let ofDownload = ofHost.union(ofServer).union(ofConnection).union([
            .tooManyRedirects, .addressDenied, .notAnImage, .other,
        ])
        func adds(_ new: [String], to old: [String]) -> Bool { !Set(new).isSubset(of: old) }
        // An empty list of allowed hosts allows every host.
        let allowsMoreHosts =
            !before.allowHosts.isEmpty && (allowHosts.isEmpty || adds(allowHosts, to: before.allowHosts))
        let changes: [(isMore: Bool, option: String, reasons: Set<FailureReason>)] = [
            (allowPrivate && !before.allowPrivate, "--allow-private", [.addressDenied]),
            (adds(allowNetworks, to: before.allowNetworks), "--allow-networks", [.addressDenied]),
            (allowsMoreHosts, "--allow-hosts", [.addressDenied]),
            (adds(before.denyHosts, to: denyHosts), "--deny-hosts", [.addressDenied]),
            (adds(filesUnder, to: before.filesUnder), "--files-under", [.fileDenied]),
            (connectTo != before.connectTo, "--connect-to", ofDownload),
            (proxy != before.proxy, "--proxy", ofDownload),
            (ca != before.ca, "--ca", [.tlsFailed]),
            (headers != before.headers, "--header", ofServer.union([.tooManyRedirects, .notAnImage])),
            (
                perHost ?? .max < before.perHost ?? .max, "--per-host",
                ofServer.union([.connectFailed, .timeout, .stalled])
            ),
            (http1 ?? false != before.http1 ?? false, "--http1", ofServer.union(ofConnection)),
            (retries > before.retries, "--retries", ofServer.union(ofConnection)),
            (retryTime ?? .zero > before.retryTime ?? .zero, "--retry-for", ofServer.union(ofConnection)),
            (patience ?? .zero > before.patience ?? .zero, "--patience", ofHost.union(ofServer).union(ofConnection)),
            (maxRedirects > before.maxRedirects, "--max-redirects", [.tooManyRedirects]),
            (maxDownload > before.maxDownload, "--max-download", [.tooLarge]),
            (maxPixels > before.maxPixels, "--max-pixels", [.tooManyPixels]),
            (minRate < before.minRate, "--min-rate", [.stalled, .hostTooSlow]),
            (before.skipsOptedOut == true && skipsOptedOut != true, "--skip-opted-out", [.optedOut]),
            (timeout > before.timeout, "--timeout", [.timeout]),
            (connectTimeout > before.connectTimeout, "--connect-timeout", [.timeout, .connectFailed]),
            (stallTimeout > before.stallTimeout, "--stall-timeout", [.stalled, .timeout]),
            (photoTimeout > before.photoTimeout, "--photo-timeout", [.filterTimeout]),
            (isolate != before.isolate, "--isolate", [.crashed, .outOfMemory]),
            (
                operations != before.operations, "--custom-filter",
                [.filterFailed, .filterTimeout, .crashed, .outOfMemory]
            ),
            (
                input != before.input, "--custom-filter-input",
                [
                    .filterFailed, .filterTimeout, .crashed, .outOfMemory, .notAnImage, .unsupportedFormat, .damaged,
                    .tooManyPixels,
                ]
            ),
            (operationTimeout > before.operationTimeout, "--custom-filter-timeout", [.filterTimeout]),
            (operationMemory > before.operationMemory, "--custom-filter-memory", [.filterFailed, .outOfMemory]),
            (waitsForDisk && !before.waitsForDisk, "--when-disk-full", [.diskFull]),
        ]
        return changes.filter(\.isMore).map { Mending(option: $0.option, reasons: $0.reasons) }
    }
}

extension [RunConditions] {
    /// The options that may mend failures of runs under one of these conditions, each once.
    func mendings(under now: RunConditions) -> [RunConditions.Mending] {
        var options: Set<String> = []
        return flatMap { now.mendings(since: $0) }.filter { options.insert($0.option).inserted }
    }

    /// These conditions and `now`, each once. The oldest are dropped, so that the state of a run stays small.
    func adding(_ now: RunConditions) -> [RunConditions] { contains(now) ? self : suffix(15) + [now] }
}

extension Sequence where Element == RunConditions.Mending {
    var reasons: Set<FailureReason> { reduce(into: []) { $0.formUnion($1.reasons) } }
}
