import DarkroomConcurrency
import Foundation
import Testing

@testable import DarkroomTransfer

/// A name server on 127.0.0.1. It answers questions for names of its table as the table says, and other names with NXDOMAIN.
final class NameServer: Sendable {
    enum Habit {
        case addresses([String], lifetime: Int = 60)
        /// Answers only after ``release()``.
        case held([String])
        case silent
        case fails
        case twice([String])
        /// The answer is about another name.
        case another([String])
        case garbage
    }

    /// For `NameResolver`.
    let address: String
    private let descriptor: Int32
    private let log = Locked(Log())
    /// Signalled for each question.
    private let asked = DispatchSemaphore(value: 0)

    private struct Log {
        var questions: [String: Int] = [:]
        var held: [(answer: [UInt8], peer: sockaddr_in)] = []
        var isReleasing = false
    }

    init(_ habits: [String: Habit]) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &own) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(descriptor, $0, size) == 0)
                try #require(getsockname(descriptor, $0, &size) == 0)
            }
        }
        address = "127.0.0.1:\(UInt16(bigEndian: own.sin_port))"
        Thread.detachNewThread { [log, asked, descriptor] in Self.serve(descriptor, habits, log, asked) }
    }

    /// Ends the thread.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// How often each name was asked for, in all families.
    var questions: [String: Int] { log.withLock { $0.questions } }

    /// Answers the held questions, and further ones at once.
    func release() {
        let held = log.withLock { log in
            log.isReleasing = true
            return log.held
        }
        for (answer, peer) in held { Self.send(answer, peer, descriptor) }
    }

    /// Waits until the questions satisfy a condition, for at most 60 s after each question.
    func wait(_ condition: @Sendable ([String: Int]) -> Bool) {
        while !condition(questions), asked.wait(timeout: .now() + 60) == .success {}
    }

    private static func serve(
        _ descriptor: Int32, _ habits: [String: Habit], _ log: Locked<Log>, _ asked: DispatchSemaphore
    ) {
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1500)
        while true {
            var peer = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &peer) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &bytes, bytes.count, 0, $0, &size)
                }
            }
            if count < 0, errno == EINTR { continue }
            guard count > 12 else { return }
            let question = Question(Array(bytes.prefix(count)))
            log.withLock { $0.questions[question.name, default: 0] += 1 }
            asked.signal()
            switch habits[question.name] {
            case .addresses(let list, let lifetime): send(question.answer(list, lifetime), peer, descriptor)
            case .held(let list):
                let answer = question.answer(list, 60)
                let isReleasing = log.withLock { log in
                    if !log.isReleasing { log.held.append((answer, peer)) }
                    return log.isReleasing
                }
                if isReleasing { send(answer, peer, descriptor) }
            case .silent: break
            case .fails: send(question.refusal(2), peer, descriptor)
            case .twice(let list):
                for _ in 1...2 { send(question.answer(list, 60), peer, descriptor) }
            case .another(let list): send(question.answer(list, 60, about: "other.test"), peer, descriptor)
            case .garbage: send(Array(question.answer(["192.0.2.1"], 60).dropLast(7)), peer, descriptor)
            case nil: send(question.refusal(3), peer, descriptor)
            }
        }
    }

    private static func send(_ answer: [UInt8], _ peer: sockaddr_in, _ descriptor: Int32) {
        var peer = peer
        _ = withUnsafePointer(to: &peer) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, answer, answer.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A question of DNS, RFC 1035.
    private struct Question {
        let name: String
        private let id: ArraySlice<UInt8>
        private let section: ArraySlice<UInt8>
        private let isOfIPv6: Bool

        init(_ bytes: [UInt8]) {
            var labels: [String] = []
            var index = 12
            while index < bytes.count, bytes[index] > 0 {
                labels.append(String(decoding: bytes[(index + 1)...(index + Int(bytes[index]))], as: UTF8.self))
                index += 1 + Int(bytes[index])
            }
            name = labels.joined(separator: ".").lowercased()
            id = bytes[..<2]
            section = bytes[12..<(index + 5)]
            isOfIPv6 = bytes[index + 2] == 28
        }

        func refusal(_ code: UInt8) -> [UInt8] { id + [0x81, 0x80 | code, 0, 1, 0, 0, 0, 0, 0, 0] + section }

        func answer(_ list: [String], _ lifetime: Int, about other: String? = nil) -> [UInt8] {
            let records = list.compactMap { record($0, lifetime) }
            let asked = other.map { Self.section($0) + section.suffix(4) } ?? Array(section)
            return id + [0x81, 0x80, 0, 1, UInt8(records.count >> 8), UInt8(records.count & 255), 0, 0, 0, 0] + asked
                + records.joined()
        }

        /// The record of an address; nil if it is of the other family.
        private func record(_ address: String, _ lifetime: Int) -> [UInt8]? {
            let life = (0..<4).map { UInt8(truncatingIfNeeded: lifetime >> (24 - 8 * $0)) }
            switch IPAddress(address) {
            case .v4(let bits) where !isOfIPv6:
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32($0))) }
                return [0xC0, 12, 0, 1, 0, 1] + life + [0, 4] + bytes
            case .v6(let high, let low) where isOfIPv6:
                let bytes = [high, low].flatMap { half in
                    (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
                }
                return [0xC0, 12, 0, 28, 0, 1] + life + [0, 16] + bytes
            default: return nil
            }
        }

        private static func section(_ name: String) -> [UInt8] {
            name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
        }
    }
}
