import ArgumentParsing
import Darkroom

/// The program `darkroom`: its overview help and its commands.
struct DarkroomProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "darkroom",
        abstract: "Download, filter and write the photos of lists, on one machine or on many.",
        discussion: """
            'darkroom COMMAND --help' shows the main options of a command, 'darkroom COMMAND --help all' all options.

            A batch is given by its id, the beginning of its id, or its name. The address of Redis is given by --redis \
            or DARKROOM_REDIS.

            Exit status: 0 success, 1 error, 2 wrong usage, 3 photos failed, 4 the batch was cancelled, 124 the \
            --timeout passed, 130 interrupted.
            """,
        examples: [
            "darkroom run photos.csv -o developed"
        ],
        version: darkroomVersion,
        subcommands: [
            RunCommand.self, SubmitCommand.self, CancelCommand.self, SuspendCommand.self, ResumeCommand.self,
            PrioritizeCommand.self, DependCommand.self, FocusCommand.self, RetryCommand.self, LimitsCommand.self,
            ForgetCommand.self, WorkerCommand.self, BatchesCommand.self, StatusCommand.self, WatchCommand.self,
            PhotosCommand.self, OperationsCommand.self, WorkersCommand.self, HostsCommand.self,
            WaitCommand.self, ServeCommand.self,
            DevelopCommand.self, FiltersCommand.self, ManifestCommand.self, DoctorCommand.self,
        ])

    static func text(of error: any Error) -> String { RemedyWording.commands.text(of: error) }

    static func advice(onUnknownCommand word: String, arguments: [String]) -> String? {
        Mistakes.advice(onCommand: word, arguments: arguments)
    }
}
