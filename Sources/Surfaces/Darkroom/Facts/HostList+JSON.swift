import DarkroomStore

extension JSON {
    /// A host as JSON, in the form that all outputs share.
    package init(_ host: HostFacts, _ wording: RemedyWording = .neutral) {
        let counts = host.counts
        func seconds(_ milliseconds: Int?) -> JSON { JSON(milliseconds.map { Double($0) / 1000 }, decimals: 3) }
        self = [
            "host": .string(host.host), "state": .string(host.state.rawValue),
            "secondsDown": seconds(host.state == .down ? host.downMilliseconds : nil),
            "secondsToNextTry": seconds(host.nextMilliseconds), "running": .int(host.running),
            "allowed": .int(host.allowed), "requestsPerSecond": JSON(host.rate, decimals: 4),
            "firstByteMedian": seconds(host.medianMilliseconds), "firstByte95": seconds(host.mostMilliseconds),
            "remedy": JSON(host.remedies.isEmpty ? nil : wording.text(host.remedies)),
        ]
        self = adding(JSON(counts))
    }

    /// The numbers of photos of a host, or of several hosts together.
    package init(_ counts: HostFacts.Counts) {
        let failures = counts.failuresByCount.map { JSON.Member(key: $0.reason.word, value: .int($0.count)) }
        self = [
            "waiting": .int(counts.waiting), "downloaded": .int(counts.downloaded), "failed": .int(counts.failed),
            "failures": .object(failures),
        ]
    }

    /// The member `hosts`: the ten hosts for which most photos wait.
    package init(topOf list: HostList, _ wording: RemedyWording = .neutral) {
        self = ["hosts": .array(list.hosts.prefix(10).map { JSON($0, wording) })]
    }

    /// The member `waitedFor`: the resource for which the photos of a batch waited most; null if it is not known.
    package init(_ waits: ResourceWaits, _ wording: RemedyWording = .neutral) {
        guard let (resource, share) = waits.most else {
            self = ["waitedFor": .null]
            return
        }
        let host = resource == .host || resource == .rate ? waits.host : nil
        self = [
            "waitedFor": [
                "resource": .string(resource.rawValue), "host": JSON(host), "share": JSON(share, decimals: 2),
                "remedy": .string(wording.text(resource.remedies)),
            ]
        ]
    }

    /// A list of hosts, in descending order of the number of photos that wait for them.
    package init(_ list: HostList, _ wording: RemedyWording = .neutral) {
        self = ["hosts": .array(list.hosts.map { JSON($0, wording) }), "others": JSON(list.others)]
    }
}
