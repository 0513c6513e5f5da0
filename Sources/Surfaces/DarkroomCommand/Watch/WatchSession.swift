import ArgumentParsing
import Darkroom
import Foundation

/// `watch` on a terminal: handles messages one after the other and draws the view.
struct WatchSession {
    private static let stops: Set<Int32> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The view is drawn at this interval even without messages, because it may show the duration of an outage of
    /// Redis.
    private static let drawEvery = Duration.seconds(1)

    private var model: WatchModel
    private let source: WatchSource
    private let inbox: WatchInbox
    private let terminal = WatchTerminal()
    private var keys = KeyReader()

    init(_ model: WatchModel, _ source: WatchSource, _ inbox: WatchInbox) {
        self.model = model
        self.source = source
        self.inbox = inbox
    }

    /// Posts to `inbox` the signals that a terminal program receives. Must be called before any other thread starts.
    static func receiveSignals(into inbox: WatchInbox) {
        var stopped = false
        StopSignals.receive([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]) { signal in
            if stops.contains(signal) {
                // After the second signal, end at once: a graceful end may wait for a blocked terminal or a slow Redis.
                if stopped {
                    WatchTerminal.leave()
                    endProcess(.interrupted)
                }
                stopped = true
            }
            inbox.post(.signal(signal))
        }
    }

    /// Runs until the watched batch has finished or the user leaves.
    /// - Returns: The exit status of the program.
    mutating func run() throws -> ExitCode {
        try terminal.enter()
        defer { WatchTerminal.leave() }
        while true {
            let (width, height) = terminal.size
            try terminal.draw(model.lines(width: width, height: height))
            for message in inbox.wait(Self.drawEvery, keys: model.hasKeys ? STDIN_FILENO : -1) {
                if let end = try take(message) {
                    WatchTerminal.leave()
                    try terminal.print(lastLines(end, width: width))
                    return end
                }
            }
        }
    }

    /// Handles a message. Returns the exit status if the program must end.
    private mutating func take(_ message: WatchInbox.Message) throws -> ExitCode? {
        switch message {
        case .read(let snapshot):
            model.take(snapshot)
            if let batch = model.batch, batch.state == .finished { return ExitCode(of: batch) }
        case .lost(let error): model.lose(error)
        case .note(let text): model.note(text)
        case .failed(let error): throw error
        case .keys(let bytes):
            for key in keys.keys(bytes) {
                switch model.press(key) {
                case .leave: return .success
                case .perform(let request): source.perform(request)
                case nil: break
                }
            }
        case .keysEnded: return .interrupted  // the terminal was closed
        case .signal(let signal): return try take(signal: signal)
        }
        return nil
    }

    private func take(signal: Int32) throws -> ExitCode? {
        switch signal {
        case SIGTSTP:
            WatchTerminal.leave()
            kill(getpid(), SIGSTOP)
        case SIGCONT: try terminal.enter()
        case SIGWINCH: try terminal.invalidate()
        default: return .interrupted
        }
        return nil
    }

    /// The lines that stay on the terminal after the view has closed.
    private func lastLines(_ end: ExitCode, width: Int) -> [StyledLine] {
        guard let batch = model.batch else { return [] }
        if batch.state == .finished { return model.finalLines(width: width) }
        let done = "\(HumanText.count(batch.counts.final)) of \(HumanText.count(batch.photos, of: "photo")) are done"
        let state = model.snapshot.map { batch.stateText(now: $0.now, problems: $0.problems) } ?? batch.state.rawValue
        return [StyledLine("batch \(batch.label) is \(state): \(done); it continues without this view")]
    }
}
