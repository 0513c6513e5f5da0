import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// Tests of the verification: it must find no problem in a correct batch, and every problem that the test creates.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct RigTests {
    private func cluster(workers: Int) throws -> TortureCluster {
        let redis = RedisServer.current
        return try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: workers)
    }

    @Test func findsNoProblemsWithoutAFault() throws {
        let cluster = try cluster(workers: 2)
        let batch = try cluster.submit(photos: 210, operationSize: 20)
        try cluster.waitUntilFinished(batch, within: .seconds(60))
        let verification = try cluster.verify(batch)
        #expect(verification.photos == 210 && verification.asked == 210 && verification.repeats == 0)
        try cluster.forget(batch)
        #expect(cluster.batches == [])
        #expect(try cluster.store.batchIDs() == [])
    }

    @Test func findsEveryProblem() throws {
        let cluster = try cluster(workers: 1)
        let batch = try cluster.submit(photos: 12, operationSize: 4)
        try cluster.waitUntilFinished(batch, within: .seconds(60))
        let output = try cluster.submission(of: batch).output
        #expect(try cluster.examine(batch).problems == [])

        func found(_ words: String...) throws {
            let problems = try cluster.examine(batch).problems.joined(separator: "; ")
            for word in words { #expect(problems.contains(word), "\(word) is not among: \(problems)") }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: output).filter { $0 != "manifest" }.sorted()
        try Data("half".utf8).write(to: URL(fileURLWithPath: "\(output)/.5.7.worker"))
        try found("the temporary file .5.7.worker is left")
        try FileManager.default.copyItem(atPath: "\(output)/\(files[1])", toPath: "\(output)/000099-photo.jpg")
        try found("000099-photo.jpg has no line in the manifest")
        try FileManager.default.removeItem(atPath: "\(output)/\(files[2])")
        try found("photo 2 has no file")
        truncate("\(output)/\(files[3])", 1000)
        try found("\(files[3]) has 1000 bytes that", "\(files[3]) differs from its line")

        let (store, keys) = (cluster.store, cluster.store.keys)
        _ = try store.connection.call(RedisCommand("SETRANGE", keys.states(batch), "4", "s"))
        try found("11 state codes are filtered, not 12", "photo 4 is failed, its line says filtered")
        _ = try store.connection.call(RedisCommand("HINCRBY", keys.batch(batch), "count.filtered", "1"))
        try found("13 are counted as filtered")
        _ = try store.connection.call(RedisCommand("HINCRBY", keys.batch(batch), "bytes.out", "1"))
        try found("bytes are counted as written")
        _ = try store.connection.call(RedisCommand("ZADD", keys.leases, "+inf", "\(batch)/2"))
        try found("there are leases")
    }
}
