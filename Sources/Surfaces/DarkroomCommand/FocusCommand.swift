import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// `darkroom focus`: makes a range of photos of a batch run first.
struct FocusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "focus", abstract: "Make a range of photos of a batch run next.",
        discussion: """
            Photos are numbered from 0. Photos that are not fed yet run next once they are fed. A new focus replaces \
            the previous focus of the batch. With --only, the operations without any of these photos stop and wait \
            until the focus is cleared; in the other operations these photos run first.
            """,
        group: "Coordinator",
        examples: ["darkroom focus holidays --photos 40-60 --only", "darkroom focus holidays --clear"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Option(help: "The photos, by their index from 0.", valueName: "range") var photos: PhotoRanges?
    @Flag(help: "Make the operations without these photos wait until the focus is cleared.") var only: Bool
    @Flag(help: "Remove the focus: all photos run in list order again.") var clear: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        guard (photos != nil) != clear else {
            throw ValidationError("name the photos with --photos <range>, or remove the focus with --clear")
        }
        if let photos, photos.ranges.count != 1 {
            throw ValidationError("--photos \"\(photos)\": a focus is one range, such as 40-60")
        }
        if only, clear { throw ValidationError("--only and --clear: choose one") }
    }

    func run() throws {
        let (redis, client, found) = try redis.connect(to: batch)
        let output = ControlOutput(client: client, redis: redis, isJSON: json)
        guard let range = photos?.ranges.first else {
            let hadFocus = try client.control.clearFocus(found.id)
            return try output.write(
                "batch \(found.label) \(hadFocus ? "has no focus any more" : "had no focus")",
                try found.refreshed(client))
        }
        let set = try client.control.focus(found.id, range, only: only)
        try output.write(
            sentence(set, range, found), try found.refreshed(client), ["fed": .int(set.fed)])
        if !json { try output.warn(of: try found.refreshed(client)) }
    }

    private func sentence(_ set: FocusSet, _ range: ClosedRange<Int>, _ batch: BatchFacts) -> String {
        let photos = range.count == 1 ? "photo \(range.lowerBound)" : "photos \(range.lowerBound)-\(range.upperBound)"
        let operations = range.count == 1 ? "the operation" : "operations"
        let effect =
            only
            ? "only \(operations) with \(photos) of batch \(batch.label) \(range.count == 1 ? "runs" : "run") until the focus "
                + "is cleared"
            : "\(photos) of batch \(batch.label) \(range.count == 1 ? "is" : "are") the next to run"
        let missing = range.count - set.fed
        let rest = set.isSealed ? "the list does not contain the others" : "the others are not fed yet"
        let reach =
            missing == 0
            ? "" : "; \(HumanText.count(set.fed)) of them \(set.fed == 1 ? "is" : "are") fed, \(rest)"
        return effect + (set.isNew ? "" : ", as before") + reach
    }
}
