import ArgumentParsing
import Darkroom

/// The program `darkroom`: what its help shows first, and its commands.
struct DarkroomProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "darkroom",
        abstract: "Develop photo lists: download every photo, put filters on it, write it, on one machine or on many.",
        discussion: """
            A batch is named by its id, the beginning of its id, or its name. Redis is named by --redis or \
            DARKROOM_REDIS.

            Exit status: 0 good, 1 it could not be done, 2 wrong usage, 3 finished with failed photos, 4 was cancelled, \
            124 the --timeout passed, 130 interrupted.
            """,
        examples: [
            "darkroom run photos.csv -o developed",
            "darkroom submit photos.csv -o /mnt/photos --name holidays",
            "darkroom worker --outputs-under /mnt/photos",
            "darkroom status holidays",
        ],
        version: darkroomVersion,
        subcommands: [
            RunCommand.self, SubmitCommand.self, CancelCommand.self, SuspendCommand.self, ResumeCommand.self,
            PrioritizeCommand.self, DependCommand.self, FocusCommand.self, RetryCommand.self, LimitsCommand.self,
            ForgetCommand.self, WorkerCommand.self, BatchesCommand.self, StatusCommand.self, WatchCommand.self,
            PhotosCommand.self, OperationsCommand.self, WorkersCommand.self, WaitCommand.self,
            DevelopCommand.self, ManifestCommand.self, DoctorCommand.self,
        ])
}
