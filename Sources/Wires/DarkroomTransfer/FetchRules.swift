/// One request of a download: its host, and the address of its connection. Each redirect adds a request.
package struct RequestStop: Sendable, Hashable {
    /// The host in its canonical form.
    package let host: String
    /// The address of the connection, which may be new or reused.
    package let address: String
    /// The value of `address` for a request that went through a proxy. This text is not an address, so a program
    /// without a proxy does not allow such a request.
    static let proxy = "proxy"

    package init(host: String, address: String) {
        self.host = host
        self.address = address
    }
}

/// The rules of a configuration for hosts and addresses. The rules also apply to cached bytes, because these bytes may
/// have been fetched under other rules.
package struct FetchRules: Sendable {
    private let hosts: HostRules
    private let addresses: AddressPolicy
    /// Whether `connectTo` may send requests to addresses that do not belong to the requested hosts.
    private let isRerouted: Bool
    private let hasProxy: Bool

    package init(_ configuration: TransferConfiguration) {
        hosts = configuration.hostRules
        addresses = configuration.addressPolicy
        hasProxy = configuration.proxy != nil
        isRerouted = !configuration.connectTo.isEmpty
    }

    /// The reason why the host or the literal address of a URL must not be accessed; nil if access is allowed.
    package func problem(of url: String) -> TransferError? {
        do throws(TransferError) {
            guard case .web(_, let host) = try TransferURL(parsing: url) else { return nil }
            try hosts.check(host)
            let literal = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
            if !isRerouted, let address = IPAddress(literal), !addresses.allows(address) {
                throw .denied(address.description)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Whether the rules allow every request of `way`.
    package func allow(_ way: [RequestStop]) -> Bool {
        way.allSatisfy { stop in
            let isAllowed =
                stop.address == RequestStop.proxy
                ? hasProxy : IPAddress(stop.address).map(addresses.allows) ?? false
            guard isAllowed else { return false }
            return (try? hosts.check(stop.host)) != nil
        }
    }

    /// Whether every worker may use the bytes, because all requests went to the host of the first request and to
    /// addresses of the public internet.
    package static func isOrdinary(_ way: [RequestStop]) -> Bool {
        let policy = AddressPolicy.publicInternet()
        return way.allSatisfy { stop in
            stop.host == way.first?.host && IPAddress(stop.address).map(policy.allows) ?? false
        }
    }
}

extension TransferError {
    static func denied(_ address: String) -> TransferError {
        TransferError(code: .addressDenied, detail: "\(address) is not an address of the public internet")
    }
}
