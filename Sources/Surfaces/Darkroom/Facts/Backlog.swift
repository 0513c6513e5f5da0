import DarkroomStore

/// The photos that workers could run now. Programs that start and stop workers use the number of these photos.
package struct Backlog: Sendable, Equatable {
    /// The photos of one priority.
    package struct Part: Sendable, Equatable {
        package let priority: BatchPriority
        package let photos: Int
        /// When the oldest of the batches was submitted: Redis time, in milliseconds since 1970. Nil without a batch.
        package let oldest: Int?
    }

    /// A part for each priority, the highest first.
    package let parts: [Part]

    package var photos: Int { parts.reduce(0) { $0 + $1.photos } }

    init(_ batches: [BatchFacts], _ controls: ClusterControls) {
        let isHeld = controls.isSuspended || controls.areDownloadsSuspended
        let open = isHeld ? [] : batches.filter(\.canRun)
        parts = BatchPriority.allCases.sorted { $0.rank > $1.rank }.map { priority in
            let own = open.filter { $0.controls.priority == priority && $0.photos > $0.counts.final }
            return Part(
                priority: priority, photos: own.reduce(0) { $0 + $1.photos - $1.counts.final },
                oldest: own.map(\.submitted).min())
        }
    }

    /// - Parameter now: Redis time, in milliseconds since 1970.
    package func json(now: Int) -> JSON {
        let parts = parts.map { part -> JSON in
            [
                "priority": .string(part.priority.rawValue), "photos": .int(part.photos),
                "oldestSeconds": JSON(part.oldest.map { Double(max(0, now - $0)) / 1000 }, decimals: 3),
            ]
        }
        return ["photos": .int(photos), "priorities": .array(parts)]
    }
}

extension BatchFacts {
    /// Whether workers may run photos of the batch.
    fileprivate var canRun: Bool {
        (state == .ready || state == .executing) && !cancelled && !suspended && !controls.areDownloadsSuspended
            && damage.isEmpty
    }
}

extension ClusterStatus {
    package var backlog: Backlog { Backlog(batches, controls) }
}
