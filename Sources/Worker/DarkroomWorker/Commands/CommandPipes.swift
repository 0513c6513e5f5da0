import CSystem
import Foundation

/// The three pipes of a command. The worker's ends are non-blocking.
final class CommandPipes {
    private var ends: [Int32] = []

    /// The capacity in bytes that the worker requests for standard input and output, so that a photo takes few switches
    /// between the processes. The kernel may refuse this capacity.
    private static let capacity: Int32 = 1 << 20

    init() throws(StartFailure) {
        for pipe in 0..<3 {
            var both: [Int32] = [-1, -1]
            guard csystem_make_pipe(&both, pipe < 2 ? Self.capacity : 0) == 0 else {
                throw StartFailure(ofCommand: "no pipe", errno)
            }
            ends += both
        }
        for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        for end in ends where end >= 0 { Glibc.close(end) }
    }

    /// The worker's end of the standard input of the command; -1 if it is closed.
    var input: Int32 { ends[1] }
    /// The worker's end of the standard output.
    var output: Int32 { ends[2] }
    /// The worker's end of the standard error.
    var errors: Int32 { ends[4] }

    /// The command's ends: its standard input, output and error.
    var commandEnds: [Int32] { [ends[0], ends[3], ends[5]] }

    func closeInput() { close(at: 1) }

    func closeCommandEnds() {
        for place in [0, 3, 5] { close(at: place) }
    }

    private func close(at place: Int) {
        if ends[place] >= 0 { Glibc.close(ends[place]) }
        ends[place] = -1
    }
}
