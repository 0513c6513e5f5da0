import DarkroomConcurrency
import Foundation

/// A network of a test's own, in which every address is this machine's: whatever is dialled, a listener can see it.
///
/// It belongs to one thread, and to the threads and processes that are started from it (network_namespaces(7)), so the rest of the
/// test process keeps its network. So does what is mounted there.
package enum NetworkNamespace {
    /// Whether one can be made: that takes root's rights and the `ip` program.
    package static let isAvailable = holds { enter() == 0 }

    /// Whether packets can be lost in one, see ``lose(percent:)``.
    package static let canLosePackets = holds { enter() == 0 && lose(percent: 5) }

    /// Whether something holds on a thread of its own.
    private static func holds(_ condition: @escaping @Sendable () -> Bool) -> Bool {
        let answer = Locked(false)
        let isThrough = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let holds = condition()
            answer.withLock { $0 = holds }
            isThrough.signal()
        }
        isThrough.wait()
        return answer.withLock { $0 }
    }

    /// Runs `body` on a thread that has a network of its own, and waits for it without blocking the caller's thread.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let status = enter()
                continuation.resume(
                    with: Result {
                        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EPERM) }
                        return try body()
                    })
            }
        }
    }

    /// Shows `content` where `path` is, on this thread and what it starts; `content` may change later.
    package static func replace(_ path: String, by content: URL) -> Bool {
        shell("mount --bind '\(content.path)' '\(path)'") == 0
    }

    /// Loses so many of a hundred packets of this thread's network from now on; false when the `nft` program or the kernel
    /// cannot. With 0 none are lost any more.
    package static func lose(percent: Int) -> Bool {
        let chain = "add chain inet loss arriving { type filter hook input priority 0; }"
        let rule = "add rule inet loss arriving iif lo numgen random mod 100 < \(percent) drop"
        let rules = ["add table inet loss", chain, "flush chain inet loss arriving"] + (percent > 0 ? [rule] : [])
        return shell("nft '\(rules.joined(separator: "; "))'") == 0
    }

    /// Gives the calling thread a network and mounts of its own; 0 when done.
    private static func enter() -> Int32 {
        // Not imported: the C library declares it for _GNU_SOURCE only.
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return ENOSYS }
        let (newMounts, newNetwork): (Int32, Int32) = (0x0002_0000, 0x4000_0000)
        guard unsafeBitCast(symbol, to: Unshare.self)(newMounts | newNetwork) == 0 else { return errno }
        let commands = [
            "mount --make-rprivate /", "ip link set lo up", "ip route add local 0.0.0.0/0 dev lo",
            "ip -6 route add local ::/0 dev lo",
        ]
        return shell(commands.joined(separator: " && ")) == 0 ? 0 : ENOSYS
    }

    /// `system` starts the shell from the calling thread, so in its namespaces.
    private static func shell(_ commands: String) -> Int32 { system("(\(commands)) >/dev/null 2>&1") }
}
