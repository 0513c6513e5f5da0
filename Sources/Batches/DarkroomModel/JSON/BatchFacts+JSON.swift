extension JSON {
    /// The facts about a batch as JSON, in the form that all outputs share.
    /// - Parameters:
    ///   - batch: the facts.
    ///   - now: Redis time, in milliseconds since 1970.
    ///   - problems: the problems of the batch, see `BatchProblems`.
    ///   - wording: the wording of remedies.
    package init(
        _ batch: BatchFacts, now: Int, problems: [BatchProblem] = [], _ wording: RemedyWording = .neutral
    ) {
        let failures = batch.failuresByCount.map { JSON.Member(key: $0.reason.word, value: .int($0.count)) }
        let left = batch.secondsLeft(at: batch.photosPerSecond(now: now), problems: problems)
        self = [
            "id": .string(batch.id.description), "name": .string(batch.options.name),
            "state": .string(batch.shownState(now: now, problems: problems).rawValue),
            "suspended": .bool(batch.suspended),
            "downloadsSuspended": .bool(batch.controls.areDownloadsSuspended),
            "filtrationsSuspended": .bool(batch.controls.areFiltrationsSuspended),
            "cancelled": .bool(batch.cancelled), "priority": .string(batch.options.priority.rawValue),
            "round": .int(batch.round), "sealed": .bool(batch.sealed), "photos": .int(batch.photos),
            "operations": .int(batch.operations), "counts": JSON(batch.counts),
            "failures": .object(failures), "bytesIn": .int(batch.bytesIn), "bytesOut": .int(batch.bytesOut),
            "lostGainMaps": .int(batch.lostGainMaps),
            "submitted": JSON(time: batch.submitted), "started": JSON(time: batch.started),
            "finished": JSON(time: batch.finished), "seconds": JSON(batch.seconds(now: now), decimals: 3),
            "photosPerSecond": JSON(batch.photosPerSecond(now: now), decimals: 2),
            "secondsLeft": JSON(left, decimals: 1), "problems": .array(problems.map { JSON($0, wording) }),
            "output": .string(batch.options.output),
        ]
        self = adding(JSON(recipeOf: batch.options)).adding(.object(JSON.controls(of: batch, now: now)))
    }

    /// How the files of a batch are made. With renditions, there are no other filters.
    package init(recipeOf options: BatchOptions) {
        let filters = options.renditions.isEmpty ? options.filters : []
        self = [
            "filters": .array(filters.map { .string($0.description) }),
            "renditions": .array(options.renditions.map { .string($0.description) }),
            "encoding": .string(options.encoding.description), "onDamaged": .string(options.damagedPhotos.rawValue),
            "acceptsDamage": .bool(options.damagedPhotos == .accept),
            "keepsAnimations": .bool(options.keepsAnimations), "keepsTimes": .bool(options.keepsTimes),
        ]
    }

    /// The members that are present only if they apply to the batch.
    private static func controls(of batch: BatchFacts, now: Int) -> [Member] {
        var members: [Member] = []
        if !batch.damage.isEmpty {
            members.append(Member(key: "damage", value: .array(batch.damage.map(JSON.string))))
        }
        if !batch.waitsFor.isEmpty {
            members.append(Member(key: "waitsFor", value: .array(batch.waitsFor.map { .string($0.description) })))
        }
        if let deferral = batch.deferral {
            let value: JSON = [
                "operations": .int(deferral.operations),
                "secondsLeft": JSON(Double(deferral.millisecondsLeft(now: now)) / 1000, decimals: 1),
            ]
            members.append(Member(key: "deferred", value: value))
        }
        if !batch.cancelledReason.isEmpty {
            members.append(Member(key: "cancelledReason", value: .string(batch.cancelledReason)))
        }
        if let focus = batch.controls.focus {
            let value: JSON = [
                "first": .int(focus.photos.lowerBound), "last": .int(focus.photos.upperBound),
                "only": .bool(focus.only),
            ]
            members.append(Member(key: "focus", value: value))
        }
        return members
    }

    package init(_ problem: BatchProblem, _ wording: RemedyWording = .neutral) {
        self = [
            "code": .string(problem.code.rawValue), "text": .string(problem.text),
            "remedy": .string(wording.text(problem.remedies)),
        ]
    }

    package init(_ counts: PhotoCounts) {
        self = [
            "new": .int(counts.new), "downloaded": .int(counts.downloaded), "filtered": .int(counts.filtered),
            "failed": .int(counts.failed), "cancelled": .int(counts.cancelled),
        ]
    }
}
