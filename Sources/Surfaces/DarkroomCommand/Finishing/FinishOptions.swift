import ArgumentParsing
import Darkroom

/// The option for a command that runs on this machine when a batch has finished.
struct FinishOptions: ParsableArguments {
    @Option(
        help: """
            Run this command with /bin/sh when the batch has finished. It gets the facts as JSON on standard input and \
            these variables: DARKROOM_BATCH (the id), DARKROOM_STATE (finished or cancelled), DARKROOM_PHOTOS, \
            _FILTERED, _FAILED and _CANCELLED (counts), DARKROOM_STATUS (the exit status that this program will have), \
            DARKROOM_NAME and DARKROOM_OUTPUT (empty if the batch has none), DARKROOM_REDIS (without user and password) \
            and DARKROOM_NAMESPACE.
            """,
        valueName: "command")
    var onFinish: String?

    func validate() throws {
        if onFinish == "" { throw ValidationError("--on-finish \"\": the command is empty") }
    }

    /// Runs the command of `--on-finish`, if given, and waits until it has ended.
    /// - Parameters:
    ///   - batch: The facts of the finished batch.
    ///   - now: The Redis time, in milliseconds since 1970.
    ///   - redis: The URL of Redis without user and password, because other processes can read the environment of the
    ///     command.
    /// - Throws: ``CommandError`` if the command cannot be run or fails.
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
