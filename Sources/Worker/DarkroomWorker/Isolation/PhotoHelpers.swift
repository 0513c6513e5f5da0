import CSystem
import DarkroomConcurrency
import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import Foundation

/// The helper processes of a worker, which decode and filter photos that could crash or block the worker.
package final class PhotoHelpers: Sendable {
    private let program: HelperProgram
    private let seconds: Int
    private let pool = ProcessPool<HelperProcess>()

    private static let margin = Duration.seconds(2)

    /// - Parameters:
    ///   - program: the path of the program of the helpers, by default this program.
    ///   - arguments: the arguments of a helper; the first is the name of the program.
    ///   - variables: the names of the environment variables that a helper receives.
    ///   - photoTimeout: the CPU time limit for a photo of up to 20 million pixels.
    package init(
        program path: String = "/proc/self/exe", arguments: [String], variables: Set<String>, photoTimeout: Duration,
        maxPixels: Int
    ) {
        // Other processes of the user, such as helpers, must not read this process's environment and memory.
        csystem_hide_process()
        seconds = photoTimeout.secondsUp
        var largest = DevelopOptions()
        largest.processorTime = .seconds(seconds)
        program = HelperProgram(
            path: path, arguments: arguments,
            environment: ProcessInfo.processInfo.environment.filter { variables.contains($0.key) },
            openFiles: HelperLimits.openFiles,
            maxMemory: HelperLimits.maxMemory(maxPixels: maxPixels),
            maxTime: (largest.processorTime(pixels: maxPixels) ?? .zero) + Self.margin)
    }

    /// Develops a photo in a helper. Blocks.
    /// - Parameters:
    ///   - maxBytes: the largest number of bytes of all files together.
    ///   - isCancelled: called every 20 ms.
    /// - Returns: a file for each output of the options.
    package func develop(
        _ options: DevelopOptions, _ bytes: [UInt8], maxBytes: Int = .max, isCancelled: @escaping () -> Bool
    ) throws(PhotoProduct.Failure) -> [PhotoProduct] {
        let maxBytes = min(maxBytes, Self.maxBytes(options, bytes))
        let job = HelperJob(options, seconds: seconds, maxBytes: maxBytes)
        var allowance = allowance(for: options, bytes)
        let allowed = allowance.bytes
        allowance.bytes = { min(allowed($0), maxBytes) }
        let (answer, files) = try ask(job, HelperJob.bytes(bytes, job, options), allowance, isCancelled)
        guard let products = answer.products(files, count: options.outputs.count) else {
            throw PhotoProduct.Failure(reason: .crashed, detail: "the answer of the helper process was invalid")
        }
        return products
    }

    /// Runs a registered custom filter in a helper. Blocks.
    func run(
        _ custom: PhotoFilter.Custom, _ record: PhotoRecord, _ bytes: [UInt8], maxPixels: Int,
        isCancelled: @escaping () -> Bool
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        let job = HelperJob(
            custom, record, maxPixels: maxPixels, seconds: seconds, maxBytes: HelperLimits.ownFileBytes)
        return try ask(job, bytes, allowanceForCustomFilter(maxPixels: maxPixels), isCancelled).bytes
    }

    /// Sends a job to a helper, and waits for the answer.
    private func ask(
        _ job: HelperJob, _ bytes: [UInt8], _ allowance: HelperProcess.Allowance, _ isCancelled: @escaping () -> Bool
    ) throws(PhotoProduct.Failure) -> (answer: HelperAnswer, bytes: [UInt8]) {
        try pool.use { () throws(PhotoProduct.Failure) in
            try startProcess("no helper process starts", unless: isCancelled) { () throws(StartFailure) in
                try HelperProcess(program, unless: isCancelled)
            }
        } _: { helper in
            switch helper.develop(job, bytes, allowance, unless: isCancelled) {
            case .answered(let answer, let bytes):
                guard let word = answer.reason else { return ProcessUse((answer, bytes)) }
                let reason = FailureReason(word: word) ?? .other
                // A helper is not used again after a failed photo, because the photo may have damaged the state of the
                // helper.
                return ProcessUse(
                    failure: .init(reason: reason, detail: HelperAnswer.cut(answer.detail ?? "")),
                    mayBeOfEarlierPhotos: reason == .outOfMemory)
            case .stopped: return ProcessUse(failure: .cancelled)
            case .ended(let how, let isLate):
                return ProcessUse(
                    failure: .init(
                        reason: isLate ? .filterTimeout : .crashed,
                        detail: "the helper process that developed it \(how)"),
                    mayBeOfEarlierPhotos: true)
            }
        }
    }

    /// The largest number of bytes of all files of a photo.
    private static func maxBytes(_ options: DevelopOptions, _ bytes: [UInt8]) -> Int {
        HelperLimits.fileBytes(of: bytes.count, pixels: options.maxPixels)
    }

    func allowance(for options: DevelopOptions, _ bytes: [UInt8]) -> HelperProcess.Allowance {
        var limits = options
        limits.processorTime = .seconds(seconds)
        let own = bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }
        let memory = limits.outputs.flatMap { $0.encoding.formats(of: own) }
            .map { HelperLimits.memory(maxPixels: limits.maxPixels, format: $0) }.max()
        let (count, maxBytes) = (limits.outputs.count, Self.maxBytes(options, bytes))
        return HelperProcess.Allowance(
            memory: memory ?? HelperLimits.maxMemory(maxPixels: limits.maxPixels),
            time: time(limits),
            // Filters produce no file before the size of the photo is known, so the limit is 0 until then.
            bytes: { $0 == 0 ? 0 : min(count * HelperLimits.fileBytes(of: bytes.count, pixels: $0), maxBytes) },
            maxPixels: limits.maxStreamedPixels)
    }

    private func allowanceForCustomFilter(maxPixels: Int) -> HelperProcess.Allowance {
        let limits = DevelopOptions(outputs: [], maxPixels: maxPixels, processorTime: .seconds(seconds))
        return HelperProcess.Allowance(
            memory: HelperLimits.memory(maxPixels: maxPixels, format: nil), time: time(limits),
            bytes: { _ in HelperLimits.ownFileBytes }, maxPixels: 0)
    }

    /// If a library can be stopped, the helper stops the photo at the limit and returns a better message than the
    /// worker could. Therefore the worker stops the helper only 2 s after the limit. The elapsed time is also limited,
    /// because the system may give a helper no CPU time.
    private func time(_ limits: DevelopOptions) -> (Int) -> (processor: Duration, clock: Duration) {
        { pixels in
            // Photos that are never in memory as a whole take less time per pixel.
            let time = limits.processorTime(pixels: min(pixels, limits.maxPixels)) ?? .zero
            return (time + Self.margin, time * 3 + .seconds(60))
        }
    }

    package func stop() { pool.endIdle() }
}

extension Duration {
    /// The duration in whole seconds, rounded up: at least 1 s, at most 31 days.
    fileprivate var secondsUp: Int {
        Int((min(max(self, .seconds(1)), .seconds(31 * 86_400)) / .seconds(1)).rounded(.up))
    }
}
