import DarkroomModel

/// The fact `hosts`: the facts of a worker about the hosts of its photos. The hosts with the most waiting photos are
/// first. The length of the text is bounded, so that a heartbeat stays small.
///
/// `<batches>;<host>;<host>...`, where `<batches>` are ids separated by spaces, and each host is
/// `<name> <state> <down> <next> <running> <allowed> <fixed> <rate> <median> <p95> <photos>...`:
/// - `<down>`, `<next>`, `<median>` and `<p95>` are milliseconds, `<rate>` is in requests per second, `-` stands for none;
/// - `<fixed>` contains `c` if `--per-host` sets `<allowed>`, and `r` if `--rate` sets `<rate>`, else `-`;
/// - `<photos>` is `<batch>:<waiting>:<downloaded>:<failures>`, with the position of the batch in `<batches>` and failures
///   such as `http-4xx=3,timeout=2`.
///
/// The host `*` stands for all other hosts: `* <photos>...`.
extension WorkerFacts {
    package struct Hosts: Sendable, Equatable {
        package var hosts: [HostFacts] = []
        /// The photo counts of all other hosts, by batch.
        package var others: [BatchID: HostFacts.Counts] = [:]

        package init(hosts: [HostFacts] = [], others: [BatchID: HostFacts.Counts] = [:]) {
            self.hosts = hosts
            self.others = others
        }
    }

    private static let mostHostsText = 4000
    /// The number of bytes that are reserved for the entry of the other hosts.
    private static let othersText = 600
    private static let mostBatches = 40
    /// Rates outside these bounds are not credible.
    private static let rates = 0...100_000.0

    // MARK: Writing

    /// The fact `hosts`. The photo counts of hosts that do not fit into the text are added to those of the other hosts.
    package static func text(of report: Hosts) -> String {
        var numbers: [BatchID: Int] = [:]
        for batch in report.hosts.flatMap({ $0.batches.keys.sorted() }) + report.others.keys.sorted()
        where numbers[batch] == nil && numbers.count < mostBatches {
            numbers[batch] = numbers.count
        }
        let batches = numbers.sorted { $0.value < $1.value }.map(\.key.description)
        var text = batches.joined(separator: " ")
        var others = report.others
        for host in report.hosts {
            let entry = ";" + words(of: host, numbers).joined(separator: " ")
            if HostFacts.isName(host.host), text.utf8.count + entry.utf8.count <= mostHostsText - othersText {
                text += entry
            } else {
                for (batch, counts) in host.batches { others[batch, default: HostFacts.Counts()].add(counts) }
            }
        }
        var entry = ""
        for part in photos(others, numbers) {
            let more = (entry.isEmpty ? ";* " : " ") + part
            if text.utf8.count + entry.utf8.count + more.utf8.count <= mostHostsText { entry += more }
        }
        return text + entry
    }

    private static func words(of host: HostFacts, _ numbers: [BatchID: Int]) -> [String] {
        func number(_ number: Int?) -> String { number.map { String($0) } ?? "-" }
        let fixed = (host.isAllowedFixed ? "c" : "") + (host.isRateFixed ? "r" : "")
        let limits = [
            number(host.running), number(host.allowed), fixed.isEmpty ? "-" : fixed,
            host.rate.map { String(($0 * 10_000).rounded() / 10_000) } ?? "-",
        ]
        let times = [number(host.medianMilliseconds), number(host.mostMilliseconds)]
        return [host.host, host.state.rawValue, number(host.downMilliseconds), number(host.nextMilliseconds)] + limits
            + times + photos(host.batches, numbers)
    }

    private static func photos(_ batches: [BatchID: HostFacts.Counts], _ numbers: [BatchID: Int]) -> [String] {
        let known = batches.compactMap { batch, counts in numbers[batch].map { (number: $0, counts: counts) } }
        return known.sorted { $0.number < $1.number }.filter { !$0.counts.isEmpty }.map { number, counts in
            let words = counts.failuresByCount.map { "\($0.reason.word)=\($0.count)" }
            return "\(number):\(counts.waiting):\(counts.downloaded):\(words.joined(separator: ","))"
        }
    }

    // MARK: Reading

    /// The hosts, with the times at Redis time `now`, in milliseconds since 1970. Entries that Darkroom did not write are
    /// left out.
    package func hosts(now: Int) -> Hosts {
        guard let text = fields["hosts"], text.utf8.count <= Self.mostHostsText else { return Hosts() }
        var entries = text.split(separator: ";", omittingEmptySubsequences: false)[...]
        let batches = entries.popFirst().map { $0.split(separator: " ").map { BatchID(String($0)) } } ?? []
        let age = min(max(0, now - seen), livesFor.wholeMilliseconds)
        var found = Hosts()
        for entry in entries {
            let words = entry.split(separator: " ").map(String.init)
            if words.first == "*" {
                for (batch, counts) in Self.photos(words.dropFirst(), batches) {
                    found.others[batch, default: HostFacts.Counts()].add(counts)
                }
            } else if let host = Self.host(words, batches, age: age) {
                found.hosts.append(host)
            }
        }
        return found
    }

    private static func host(_ words: [String], _ batches: [BatchID?], age: Int) -> HostFacts? {
        guard words.count >= 10, HostFacts.isName(words[0]), let state = HostFacts.State(rawValue: words[1]),
            let down = time(words[2]), let running = count(words[4]), let allowed = count(words[5])
        else { return nil }
        var host = HostFacts(host: words[0], state: state)
        host.downMilliseconds = state == .down ? down + age : 0
        if state.isHeld { host.nextMilliseconds = time(words[3]).map { max(0, $0 - age) } }
        (host.running, host.allowed) = (running, allowed)
        host.isAllowedFixed = words[6].contains("c")
        host.rate = Double(words[7]).flatMap { rates.contains($0) ? $0 : nil }
        host.isRateFixed = host.rate != nil && words[6].contains("r")
        (host.medianMilliseconds, host.mostMilliseconds) = (time(words[8]), time(words[9]))
        host.batches = photos(words.dropFirst(10), batches)
        return host
    }

    private static func photos(_ words: ArraySlice<String>, _ batches: [BatchID?]) -> [BatchID: HostFacts.Counts] {
        var found: [BatchID: HostFacts.Counts] = [:]
        for word in words {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4, let place = Int(parts[0]), batches.indices.contains(place),
                let batch = batches[place], let waiting = count(parts[1]), let downloaded = count(parts[2])
            else { continue }
            var counts = HostFacts.Counts(waiting: waiting, downloaded: downloaded)
            for failure in parts[3].split(separator: ",") {
                let pair = failure.split(separator: "=").map(String.init)
                guard pair.count == 2, let reason = FailureReason(word: pair[0]), let number = count(pair[1]) else {
                    continue
                }
                counts.failures[reason] = number
            }
            found[batch] = counts
        }
        return found
    }

    private static func count(_ word: String) -> Int? {
        Int(word).flatMap { StoredBounds.photos.contains($0) ? $0 : nil }
    }

    /// A time in milliseconds, at most a year.
    private static func time(_ word: String) -> Int? {
        Int(word).flatMap { (0...365 * 86_400_000).contains($0) ? $0 : nil }
    }
}
