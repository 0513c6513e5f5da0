internal import CSystem
import DarkroomText
import Glibc

/// Sockets for which a thread waits (epoll). The wait costs the same for 10 sockets as for 2,000.
package final class SocketPoller {
    /// A socket that is ready.
    package struct Event: Sendable {
        package let socket: Int32
        package let reads: Bool
        package let writes: Bool
        /// Whether the socket has an error, or its connection has ended.
        package let failed: Bool
    }

    /// A descriptor that is readable as long as a watched socket is ready. ``Wakeup`` can wait for it.
    package let descriptor: Int32
    private var events = [epoll_event](repeating: epoll_event(), count: 64)

    /// Creates an epoll instance. If no file descriptors are left, ends the program, because it cannot work without the
    /// instance.
    package init() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { fatalError("epoll_create1: \(systemErrorText())") }
    }

    deinit { close(descriptor) }

    /// Watches `socket`, or changes the events for which `socket` is watched. If the system lacks memory for the watch,
    /// the poller never reports the socket.
    package func watch(_ socket: Int32, reads: Bool, writes: Bool) {
        var event = epoll_event()
        event.events = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        event.data.fd = socket
        if epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event) < 0 {
            epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event)
        }
    }

    package func forget(_ socket: Int32) {
        var event = epoll_event()
        epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)  // a closed socket has been removed by the system
    }

    /// The sockets that are ready now, at most 64.
    package func ready() -> [Event] {
        let count = epoll_wait(descriptor, &events, Int32(events.count), 0)
        return events.prefix(Int(max(0, count))).map { event in
            func has(_ flag: EPOLL_EVENTS) -> Bool { event.events & flag.rawValue != 0 }
            return Event(
                socket: event.data.fd, reads: has(EPOLLIN), writes: has(EPOLLOUT),
                failed: has(EPOLLERR) || has(EPOLLHUP))
        }
    }
}
