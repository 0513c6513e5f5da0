import Darkroom
import DarkroomCoordinator
import DarkroomHTTP
import DarkroomStore

/// The routes about the cluster: status, workers, hosts, limits, suspension.
enum ClusterRoutes {
    static let all: [Route] = [
        Route(.get, "/api/v1/status", answer: status),
        Route(.get, "/api/v1/backlog") { call in
            let status = try ClusterStatus(call.client)
            return HTTPResponse(status.backlog.json(now: status.now))
        },
        Route(.get, "/api/v1/history") { call in
            HTTPResponse(["samples": .array(try call.client.store.history().map { JSON($0) })])
        },
        Route(.get, "/api/v1/workers") { call in
            let now = try call.client.store.time()
            return HTTPResponse(["workers": .array(try call.client.store.workers().map { JSON($0, now: now) })])
        },
        Route(.get, "/api/v1/hosts") { call in
            let store = call.client.store
            return HTTPResponse(JSON(HostList(try store.workers(), now: try store.time())))
        },
        Route(.get, "/api/v1/limits", answer: limits),
        Route(.put, "/api/v1/limits", answer: setLimits),
        Route(.delete, "/api/v1/limits") { call in
            try call.client.control.clearLimits()
            return try limits(call)
        },
        Route(.post, "/api/v1/suspend") { call in
            _ = try call.client.control.suspend(nil, call.part())
            return try status(call)
        },
        Route(.post, "/api/v1/resume") { call in
            _ = try call.client.control.resume(nil, call.part())
            return try status(call)
        },
    ]

    @Sendable private static func status(_ call: Call) throws -> HTTPResponse {
        HTTPResponse(try ClusterStatus(call.client).json())
    }

    @Sendable private static func limits(_ call: Call) throws -> HTTPResponse {
        let limits = try call.client.control.limits()
        return HTTPResponse(["downloads": JSON(limits.downloads), "filtrations": JSON(limits.filtrations)])
    }

    @Sendable private static func setLimits(_ call: Call) throws -> HTTPResponse {
        let fields = try call.fields("downloads", "filtrations")
        let (downloads, filtrations) = (try fields.number("downloads"), try fields.number("filtrations"))
        guard downloads != nil || filtrations != nil else {
            throw Problem(
                400, "invalidField", "give \"downloads\", \"filtrations\" or both; DELETE removes both limits")
        }
        try call.client.control.setLimits(downloads: downloads, filtrations: filtrations)
        return try limits(call)
    }
}

extension JSON {
    /// A sample of the history; its numbers of photos and bytes are totals since the first batch.
    fileprivate init(_ sample: HistorySample) {
        self = [
            "time": JSON(time: sample.time), "filtered": .int(sample.totals.filtered),
            "failed": .int(sample.totals.failed), "cancelled": .int(sample.totals.cancelled),
            "bytesIn": .int(sample.totals.bytesIn), "bytesOut": .int(sample.totals.bytesOut),
            "queued": .int(sample.queued),
        ]
    }
}
