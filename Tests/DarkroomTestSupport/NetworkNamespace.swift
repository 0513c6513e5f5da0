import DarkroomConcurrency
import Foundation

/// A network namespace of a test. Every address in it belongs to this machine, so a local server receives connections
/// to any address.
///
/// The network and the mounts apply to one thread, and to the threads and processes that this thread starts
/// (network_namespaces(7)). The rest of the test process keeps its own.
package enum NetworkNamespace {
    /// Whether the test can create a namespace. This requires root and the `ip` program.
    package static let isAvailable = holds { enter() == 0 }

    /// Whether the test can drop packets in a namespace, see ``lose(percent:)``.
    package static let canLosePackets = holds { enter() == 0 && lose(percent: 5) }

    /// Evaluates a condition on a separate thread.
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

    /// Runs `body` on a thread with its own network, and waits for the result without blocking the calling thread.
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

    /// Mounts `content` over `path` for this thread and its children. `content` may change later.
    package static func replace(_ path: String, by content: URL) -> Bool {
        shell("mount --bind '\(content.path)' '\(path)'") == 0
    }

    /// Drops `percent` % of the packets in the network of this thread. 0 ends the loss. Returns false if the `nft`
    /// program or the kernel does not support it.
    package static func lose(percent: Int) -> Bool {
        let chain = "add chain inet loss arriving { type filter hook input priority 0; }"
        let rule = "add rule inet loss arriving iif lo numgen random mod 100 < \(percent) drop"
        let rules = ["add table inet loss", chain, "flush chain inet loss arriving"] + (percent > 0 ? [rule] : [])
        return shell("nft '\(rules.joined(separator: "; "))'") == 0
    }

    /// Creates network and mount namespaces for the calling thread. Returns 0 on success.
    private static func enter() -> Int32 {
        // Swift does not import `unshare`, because the C library declares it only for _GNU_SOURCE.
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

    /// `system` starts the shell from the calling thread, and thus in its namespaces.
    private static func shell(_ commands: String) -> Int32 { system("(\(commands)) >/dev/null 2>&1") }
}
