import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// A DNS look-up of a host name and its result.
struct NameLookUp {
    let name: String
    /// Whether the user gave the name; otherwise it is the sample name.
    var isAsked = true
    /// The number of addresses, or the reason why none was found.
    let outcome: Result<Int, Failure>
    let took: Duration

    struct Failure: Error { let reason: String }

    /// Looks the names up one after the other; without names, looks up example.com. Blocks for at most 10 s per name.
    static func performed(of names: [String]) -> [NameLookUp] {
        names.isEmpty ? [perform("example.com", isAsked: false)] : names.map { perform($0, isAsked: true) }
    }

    private static func perform(_ name: String, isAsked: Bool) -> NameLookUp {
        let start = ContinuousClock.now
        let outcome = Locked<Result<Int, Failure>>(.failure(Failure(reason: "no answer within 10 s")))
        let answered = Signal()
        _ = OwnedThread("darkroom-name") {
            let found = lookUp(name)
            outcome.withLock { $0 = found }
            answered.raise()
        }
        answered.wait(timeout: .seconds(10))
        return NameLookUp(
            name: name, isAsked: isAsked, outcome: outcome.withLock { $0 }, took: start.duration(to: .now))
    }

    private static func lookUp(_ name: String) -> Result<Int, Failure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else {
            let reason = status == EAI_SYSTEM ? systemErrorText() : String(cString: gai_strerror(status))
            return .failure(Failure(reason: reason))
        }
        defer { freeaddrinfo(list) }
        var next = list
        var count = 0
        while let address = next {
            count += 1
            next = address.pointee.ai_next
        }
        return .success(count)
    }
}

/// Checks whether DNS resolves the host names, and how long each lookup takes.
struct NamesCheck: Check {
    let lookUps: [NameLookUp]

    private static let slow = Duration.seconds(1)

    var findings: [Finding] {
        lookUps.map { lookUp in
            let took = HumanText.duration(lookUp.took / .seconds(1))
            switch lookUp.outcome {
            case .success(let count):
                let found = "\(lookUp.name): \(HumanText.count(count, of: "address")) within \(took)"
                guard lookUp.took >= Self.slow else { return .ok("DNS", found) }
                return .warning(
                    "DNS", found, "each new host takes this long: check the name servers in /etc/resolv.conf")
            case .failure(let failure):
                let found = "\(lookUp.name): \(failure.reason) (\(took))"
                let advice = "check /etc/resolv.conf and the network"
                return lookUp.isAsked
                    ? .problem("DNS", found, advice)
                    : .warning(
                        "DNS", found, "\(advice); without the internet, name a host of your photos with --resolve")
            }
        }
    }
}
