import Darkroom
import DarkroomStore

/// The facts of a batch in words. The page of the batch shows them, and its script gets them from the HTTP API, so that
/// the script does not contain these words.
struct BatchTexts {
    let batch: BatchFacts
    /// Redis time, in milliseconds since 1970.
    let now: Int
    let problems: [BatchProblem]

    /// The rate, the time that is left, and the time that the batch took: `8.1/s, 3m 12s left`.
    var speed: String {
        let rate = batch.photosPerSecond(now: now)
        let left = batch.secondsLeft(at: rate, problems: problems)
        return [
            rate.map(HumanText.rate), left.map { HumanText.duration($0) + " left" },
            batch.state == .finished ? batch.seconds(now: now).map { "took " + HumanText.duration($0) } : nil,
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// The facts as the commands print them with `--json`, and the texts.
    var facts: JSON {
        let texts: JSON = [
            "state": .string(batch.stateText(now: now, problems: problems)), "speed": .string(speed),
            "failures": .string(batch.reasonsText), "problems": .array(problems.map { .string($0.sentence()) }),
            "actions": .array(problems.map { .array($0.remedies.compactMap { $0.action?.json }) }),
        ]
        return JSON(batch, now: now, problems: problems).adding(["texts": texts])
    }
}
