import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomRedis
import DarkroomStore

extension SubmitCommand {
    /// Prints the effects that this command would have. Redis is not needed. If Redis is reachable, also checks the
    /// name, the dependencies and the workers.
    func describe() throws {
        let progress = LiveProgress()
        let submission = try submission()
        let photos = try reading.open(list, output: output, submission.list.selection()) { progress.note($0) }
        try requireOverlays()
        let options = try namingOptions { try submission.options(for: photos.list) }
        let (client, warnings) = try redisIfReachable()
        if let client { _ = try resolved(submission, in: client) }
        let check = SubmissionCheck(options, overwrite: submission.overwrite, store: client?.store)
        let report = try DryRun(photos, options, outputExists: check.run(), progress)
        try report.write(.submits, besides: BatchOptions(), warnings: warnings, isJSON: json)
    }

    /// A client of Redis (nil if Redis is unreachable), and the reasons why the photos would have to wait.
    private func redisIfReachable() throws -> (client: DarkroomClient?, warnings: [String]) {
        let client: DarkroomClient
        do {
            client = try redis.connect()
        } catch let error as RedisError where error.outlook == .passing {
            return (nil, ["Redis was not checked: \(error)"])
        }
        var warnings = try RedisRequirements.check(client.location.redis)
        let now = try client.store.time()
        if try !client.store.workers().contains(where: { $0.isLiving(now: now) }) {
            warnings.append("no worker is running, so the photos would wait; \"darkroom worker\" starts one")
        }
        if let suspended = try client.store.clusterControls().suspendedText {
            warnings.append("the cluster: \(suspended); \"darkroom resume --all\" resumes it")
        }
        return (client, warnings)
    }
}
