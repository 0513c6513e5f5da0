import ArgumentParsing
import Darkroom

/// What is done on this machine when a batch has finished.
struct FinishOptions: ParsableArguments {
    @Option(
        help: """
            Run this by /bin/sh when the batch has finished: its facts come as JSON on standard input, DARKROOM_BATCH is \
            its id, DARKROOM_STATE finished or cancelled, DARKROOM_PHOTOS, _FILTERED, _FAILED and _CANCELLED the counts, \
            DARKROOM_STATUS the status of this program to come, DARKROOM_REDIS (without user \
            and password) and DARKROOM_NAMESPACE where it is.
            """,
        valueName: "command")
    var onFinish: String?

    func validate() throws {
        if onFinish == "" { throw ValidationError("--on-finish \"\": the command is empty") }
    }

    /// Runs the command that was given, if any, and waits for its end.
    /// - Parameters:
    ///   - batch: how the batch has finished.
    ///   - now: in ms of the Redis clock.
    ///   - redis: the URL of its Redis, without user and password: the environment of a process is no place for them.
    /// - Throws: ``CommandError`` when the command cannot be run or fails.
    func finish(_ batch: BatchFacts, now: Int, redis: String, namespace: String) throws {
        guard let onFinish else { return }
        let environment = [
            "DARKROOM_BATCH": batch.id.description, "DARKROOM_NAME": batch.options.name,
            "DARKROOM_STATE": batch.cancelled ? "cancelled" : batch.state.rawValue,
            "DARKROOM_STATUS": "\(ExitCode(of: batch).rawValue)", "DARKROOM_OUTPUT": batch.options.output,
            "DARKROOM_PHOTOS": "\(batch.photos)", "DARKROOM_FILTERED": "\(batch.counts.filtered)",
            "DARKROOM_FAILED": "\(batch.counts.failed)", "DARKROOM_CANCELLED": "\(batch.counts.cancelled)",
            "DARKROOM_REDIS": redis, "DARKROOM_NAMESPACE": namespace,
        ]
        let command = ShellCommand(onFinish, environment: environment, input: JSON(batch, now: now).text + "\n")
        let end: ShellCommand.End
        do throws(CommandError) {
            end = try command.run()
        } catch {
            throw CommandError("--on-finish: \(error)")
        }
        if end != .status(0) { throw CommandError("--on-finish: the command \(end): \(onFinish)") }
    }
}
