import Darkroom
import DarkroomRedis

/// Checks that the server is the primary, and that its replicas are online and not far behind.
struct ReplicationCheck: Check {
    let information: ServerInformation

    private static let check = "Redis replicas"
    private static let greatestLagInSeconds = 10

    var findings: [Finding] {
        guard information["role"] != "slave" else {
            let primary = "\(information["master_host"] ?? "?"):\(information["master_port"] ?? "?")"
            return [
                .problem(
                    Self.check, "this is a replica of \(primary)", "it refuses changes: name \(primary) with --redis")
            ]
        }
        let count = information.int("connected_slaves") ?? 0
        guard count > 0 else { return [.ok(Self.check, "none")] }
        let replicas = (0..<count).compactMap { information["slave\($0)"] }.map(Replica.init)
        let late = replicas.filter { $0.state != "online" || $0.lagInSeconds > Self.greatestLagInSeconds }
        guard let first = late.first else { return [.ok(Self.check, "\(HumanText.count(count)) online")] }
        let state = "\(first.address) is \(first.state), lag \(first.lagInSeconds) s"
        return [
            .warning(
                Self.check, "\(late.count) of \(count) behind: \(state)",
                "a failover to it loses the latest changes: check its log and the network between them")
        ]
    }
}

/// `ip=10.0.0.2,port=6379,state=online,offset=14,lag=1`
private struct Replica {
    let address: String
    let state: String
    let lagInSeconds: Int

    init(_ text: String) {
        var fields: [Substring: String] = [:]
        for field in text.split(separator: ",") {
            guard let equal = field.firstIndex(of: "=") else { continue }
            fields[field[..<equal]] = String(field[field.index(after: equal)...])
        }
        address = "\(fields["ip"] ?? "?"):\(fields["port"] ?? "?")"
        state = fields["state"] ?? "unknown"
        lagInSeconds = fields["lag"].flatMap { Int($0) } ?? 0
    }
}
