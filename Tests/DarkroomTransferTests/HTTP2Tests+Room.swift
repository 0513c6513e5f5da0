import DarkroomConcurrency
import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

/// Bodies that wait until there is room for them in memory.
extension HTTP2Tests {
    /// libcurl 7.88 keeps up to 32 MiB of each held body, so at most two of these bodies are held. The other requests are
    /// sent again when there is room.
    @Test func bodiesThatWaitForRoomUseLittleMemory() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            guard request.number <= 6 else { return Self.answer(request, connection) }
            let head = Frame.head(request.stream, [("content-length", "\(40 << 20)")])
            connection.send(head, .body(request.stream, [1, 2, 3], isLast: false))
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.perHost = 6 })
        let hasRoom = Locked(false)
        let asked = Collected<Int>()
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return hasRoom.withLock { $0 }
        })
        let results = Collected<Outcome>()
        let transfers = (0..<6).map { _ in engine.start(server.url("/"), steps: steps, completion: results.add) }
        // Each transfer asks when its body arrives, and again when the engine has learned that it waits.
        #expect(await asked.wait(for: 12).prefix(12).allSatisfy { [8 << 20, 40 << 20].contains($0) })
        hasRoom.withLock { $0 = true }
        engine.resume()
        #expect(server.wait { $0.requests >= 10 }, "\(server.log)")
        #expect(await results.wait(for: 4).prefix(4).allSatisfy { $0.body?.count == 1 })
        for transfer in transfers { transfer.cancel() }
        let all = await results.wait(for: 6)
        #expect(all.allSatisfy { $0.body?.count == 1 || $0.error?.code == .cancelled }, "\(all)")
    }

    /// At most two of these bodies are held, see above. The others are requested again, at the rate of the host, and only if
    /// there still is room when they may be sent.
    @Test func requestsThatAreSentAgainKeepTheRateAndTheRoom() async throws {
        let times = Collected<ContinuousClock.Instant>()
        let server = try HTTP2Server(certificates) { request, connection in
            times.add(.now)
            guard request.number <= 4 else { return Self.answer(request, connection) }
            let head = Frame.head(request.stream, [("content-length", "\(40 << 20)")])
            connection.send(head, .body(request.stream, [1, 2, 3], isLast: false))
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.rate = 2.5 })
        let (hasRoom, losesRoom) = (Locked(false), Locked(false))
        let (asked, turns) = (Collected<Int>(), Collected<Bool>())
        let steps = TransferSteps(
            mayBegin: {
                if losesRoom.withLock({ $0 }) { hasRoom.withLock { $0 = false } }
                turns.add(true)
                return true
            },
            mayCarry: { bytes in
                asked.add(bytes)
                return hasRoom.withLock { $0 }
            })
        let results = Collected<Outcome>()
        let start = ContinuousClock.now
        for _ in 0..<4 { engine.start(server.url("/"), steps: steps, completion: results.add) }
        _ = await asked.wait(for: 8)
        losesRoom.withLock { $0 = true }
        hasRoom.withLock { $0 = true }
        engine.resume()
        // After the four requests, the first one that may be sent again finds no room.
        _ = await turns.wait(for: 5)
        #expect(times.values.count == 4)
        losesRoom.withLock { $0 = false }
        hasRoom.withLock { $0 = true }
        engine.resume()
        let ended = try await results.wait(for: 2).prefix(2).map { try $0.get() }
        #expect(ended.map(\.body.count) == [1, 1] && ended.map(\.attempts) == [1, 1])
        // On a slow machine, requests arrive later, but never earlier.
        let early = times.values.enumerated().filter { $1 - start < .milliseconds(350 * $0) }
        #expect(early.isEmpty && times.values.count >= 6, "\(times.values)")
    }

    @Test func transferThatWaitsForRoomCanBeCancelled() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            let head = Frame.head(request.stream, [("content-length", "\(40 << 20)")])
            connection.send(head, .body(request.stream, [1, 2, 3], isLast: false))
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.perHost = 6 })
        let results = Collected<Outcome>()
        let asked = Collected<Int>()
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return false
        })
        let transfers = (0..<6).map { _ in engine.start(server.url("/"), steps: steps, completion: results.add) }
        // Each transfer asks when its body arrives, and again when the engine has learned that it waits.
        _ = await asked.wait(for: 12)
        for transfer in transfers { transfer.cancel() }
        #expect(await results.wait(for: 6).allSatisfy { $0.error?.code == .cancelled })
    }

    /// A held body neither stops the other bodies of its connection nor gets bytes of an earlier held body.
    @Test func heldBodiesDoNotMix() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            guard request.number > 1 else { return Self.answer(request, connection) }
            let part = [UInt8](repeating: UInt8(request.number), count: 16 << 10)
            connection.send(.head(request.stream, [("content-length", "\(32 << 10)")]))
            connection.send(.body(request.stream, part, isLast: false), .body(request.stream, part))
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration())
        #expect(await engine.fetch(server.url("/")).body == [1])
        func whole(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32 << 10) }
        let (hasRoom, asked) = (Locked(false), Collected<Int>())
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return hasRoom.withLock { $0 }
        })
        let (first, second) = (Collected<Outcome>(), Collected<Outcome>())
        let cancelled = engine.start(server.url("/"), steps: steps, completion: first.add)
        _ = await asked.wait(for: 2)
        #expect(await engine.fetch(server.url("/")).body == whole(3), "another body of the connection waits")
        engine.start(server.url("/"), steps: steps, completion: second.add)
        // The engine asks in the order in which the transfers wait, until one must wait further.
        _ = await asked.wait(for: 4)
        cancelled.cancel()
        #expect(await first.wait(for: 1).first?.error?.code == .cancelled)
        hasRoom.withLock { $0 = true }
        engine.resume()
        #expect(await second.wait(for: 1).first?.body == whole(4))
        // These transfers use the libcurl handles of the transfers above again, among them the handle of the cancelled one.
        hasRoom.withLock { $0 = false }
        let (count, others) = (asked.values.count, Collected<Outcome>())
        for _ in 0..<3 { engine.start(server.url("/"), steps: steps, completion: others.add) }
        _ = await asked.wait(for: count + 6)
        hasRoom.withLock { $0 = true }
        engine.resume()
        #expect(Set(await others.wait(for: 3).compactMap(\.body)) == [whole(5), whole(6), whole(7)])
        #expect(server.log.connections == 1, "\(server.log)")
    }
}
