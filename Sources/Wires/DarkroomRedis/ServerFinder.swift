/// Finds the current server: the master that sentinels report, the cluster node that holds the keys, or the configured
/// server. Only one thread may use it.
struct ServerFinder {
    let configuration: RedisConfiguration
    /// The sentinels, or the known nodes of the cluster, in the order in which they are tried.
    private var candidates: [RedisConfiguration.Endpoint]

    /// The connect timeout for each candidate, if there are several candidates.
    private static let candidateTimeout = Duration.seconds(1)

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
        candidates =
            switch configuration.address {
            case .unix: []
            case .tcp(let host, let port): [RedisConfiguration.Endpoint(host: host, port: port)]
            case .sentinels(let endpoints, _): endpoints
            }
    }

    /// Creates a finder that connects not to the master, but to any sentinel that replies; nil if the configuration has
    /// no sentinels.
    init?(sentinelsOf configuration: RedisConfiguration) {
        guard case .sentinels(let endpoints, _) = configuration.address, let first = endpoints.first else { return nil }
        self.configuration = configuration.sentinel(at: first, within: Self.candidateTimeout)
        candidates = endpoints
    }

    /// Connects to the current server. Blocks.
    mutating func connect(scripts: [RedisScript] = []) throws(RedisError) -> Session {
        switch configuration.address {
        case .unix: try Session(configuration, scripts: scripts)
        case .tcp: try connectToNode(scripts)
        case .sentinels(_, let service): try connectToMaster(of: service, scripts)
        }
    }
}

// MARK: - A cluster, or a single server

extension ServerFinder {
    /// Moves the node in a MOVED reply to the front of the candidates. Returns false if the reply has no usable node.
    mutating func follow(_ reply: String, from address: RedisConfiguration.Address) -> Bool {
        let words = reply.split(separator: " ")
        guard case .tcp(let host, let port) = address, case .tcp = configuration.address, words.count == 3,
            let node = RedisConfiguration.Endpoint(
                redirection: words[2], from: RedisConfiguration.Endpoint(host: host, port: port))
        else { return false }
        prefer(node)
        return true
    }

    /// Moves a failing server to the end of the candidates, so that another candidate is tried first.
    mutating func leave() {
        if candidates.count > 1 { candidates.append(candidates.removeFirst()) }
    }

    private mutating func connectToNode(_ scripts: [RedisScript]) throws(RedisError) -> Session {
        var failure: RedisError?
        for node in candidates {
            let timeout = candidates.count > 1 ? Self.candidateTimeout : configuration.connectTimeout
            do throws(RedisError) {
                let session = try Session(configuration.server(at: node, within: timeout), scripts: scripts)
                learn(session.clusterNodes, from: node)
                return session
            } catch {
                // Errors such as a wrong password occur at every node.
                guard error.isPassing else { throw error }
                failure = failure ?? error
            }
        }
        guard let failure, candidates.count > 1 else { throw failure ?? nothingToTry }
        throw RedisError(
            .cannotConnect, failure.attempted,
            "\(failure.message) (and none of its cluster's \(candidates.count - 1) other known nodes can be reached)",
            serverReply: failure.serverReply)
    }

    /// Stores the nodes of the cluster as candidates, in case `node` fails. Also keeps the configured address, because
    /// its host name may resolve to several nodes.
    private mutating func learn(_ nodes: [RedisConfiguration.Endpoint], from node: RedisConfiguration.Endpoint) {
        if !nodes.isEmpty, case .tcp(let host, let port) = configuration.address {
            let configured = RedisConfiguration.Endpoint(host: host, port: port)
            candidates = nodes.contains(configured) ? nodes : nodes + [configured]
        }
        prefer(node)
    }

    private mutating func prefer(_ node: RedisConfiguration.Endpoint) {
        candidates.removeAll { $0 == node }
        candidates.insert(node, at: 0)
    }

    /// Unreachable code: the configured address is always known.
    private var nothingToTry: RedisError {
        RedisError(.cannotConnect, "connect to \(configuration.displayName)", "no address is known")
    }
}

// MARK: - Sentinels

extension ServerFinder {
    /// Asks the sentinels whether the server of `session` is still the master. Blocks until a sentinel replies or all
    /// connection attempts have failed. Does not throw if no sentinel replies.
    /// - Throws: An error with the code `disconnected` if a sentinel names another server as the master.
    mutating func checkMaster(_ session: Session) throws(RedisError) {
        // If no sentinel replies, the connection keeps its server, and detects a failure of the server by itself.
        guard case .sentinels(_, let service) = configuration.address, case .tcp(let host, let port) = session.address,
            let master = try? master(of: service), master != RedisConfiguration.Endpoint(host: host, port: port)
        else { return }
        throw RedisError(
            .disconnected, "talk to \(session.displayName)",
            "the sentinels have made \(master) the master of \"\(service)\"; commands in flight may or may not have been"
                + " carried out")
    }

    private mutating func connectToMaster(
        of service: String, _ scripts: [RedisScript]
    ) throws(RedisError) -> Session {
        let master = try master(of: service)
        let server = configuration.server(at: master, within: configuration.connectTimeout)
        // The sentinels may not have noticed that the server has become a replica, so the session checks the
        // server's role (https://redis.io/docs/latest/develop/reference/sentinel-clients/).
        return try Session(server, scripts: scripts, masterOf: service)
    }

    /// Asks one sentinel after another until one names the master. The next call begins with this sentinel.
    private mutating func master(of service: String) throws(RedisError) -> RedisConfiguration.Endpoint {
        var failures: [RedisError] = []
        for sentinel in candidates {
            do throws(RedisError) {
                let master = try master(of: service, accordingTo: sentinel)
                prefer(sentinel)
                return master
            } catch {
                failures.append(error)
            }
        }
        let worst = failures.first { !$0.isPassing } ?? failures.last ?? nothingToTry
        throw RedisError(
            worst.code, "find the master of \"\(service)\"",
            "none of \(candidates.count) sentinels reports one: \(worst)", serverReply: worst.serverReply)
    }

    private func master(
        of service: String, accordingTo sentinel: RedisConfiguration.Endpoint
    ) throws(RedisError) -> RedisConfiguration.Endpoint {
        let asked = configuration.sentinel(at: sentinel, within: Self.candidateTimeout)
        let deadline = ContinuousClock.now + asked.connectTimeout
        let reply = try Session(asked).exchange(
            [RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)], until: deadline)[0]
        if let host = reply.array?.first?.string, let port = reply.array?.last?.int {
            return RedisConfiguration.Endpoint(host: host, port: port)
        }
        let attempted = "ask the sentinel \(sentinel)"
        if case .error(let text) = reply { throw RedisError(.server, attempted, text, serverReply: text) }
        throw RedisError(
            .cannotConnect, attempted,
            "it monitors no service of the name \"\(service)\"; check the name in the address")
    }
}
