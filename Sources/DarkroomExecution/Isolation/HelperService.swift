import CSystem
import DarkroomImaging
import DarkroomModel
import DarkroomText
import Foundation

/// The environment of a helper process. A helper gets these variables of its worker and those given to
/// ``WorkerConfiguration/useThisProgramAsHelper(arguments:environment:)``, but no others, such as the password of Redis.
package enum HelperEnvironment {
    /// The names of the variables that configure the libraries.
    package static let names: Set<String> = [
        "LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH", "VIPSHOME", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "ASAN_OPTIONS",
        "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]
}

package struct HelperService {
    /// The environment variable that marks a process as helper.
    static let mark = "DARKROOM_PHOTO_HELPER"
    /// Whether this process was started as a helper.
    package static var isHelper: Bool { ProcessInfo.processInfo.environment[mark] != nil }

    let operations: [String: @Sendable () -> any PhotoOperation]
    private let channel = HelperChannel(descriptor: STDIN_FILENO)

    package init(operations: [String: @Sendable () -> any PhotoOperation]) { self.operations = operations }

    /// Confines this process to the files and system calls that developing photos needs, as far as the kernel supports it (see
    /// `doctor`).
    /// - Returns: the greeting for the worker, with a problem if a layer that the kernel has is not in place.
    private func confine() -> HelperGreeting {
        csystem_offer_to_memory_killer()
        csystem_hide_process()
        if csystem_confine_files() < 0 { return Self.problem("Landlock", "files") }
        // Libraries load files at their first use, such as the plug-ins of libheif. They do so now.
        _ = Imaging.canSave(.avif)
        if csystem_confine_calls() < 0 { return Self.problem("seccomp", "system calls") }
        return HelperGreeting()
    }

    private static func problem(_ layer: String, _ subject: String) -> HelperGreeting {
        let error = errno
        return HelperGreeting(
            problem:
                "the kernel has \(layer) and refuses to confine its \(subject) (\(systemErrorText(error))); "
                + "allow it where the worker runs", mayPass: [ENOMEM, EAGAIN, EBUSY].contains(error))
    }

    /// Develops photos until its worker has ended.
    package func run() -> Never {
        let greeting = confine()
        // Sending fails only if the worker process has ended. The helper has nobody to report the error to.
        let isGreeted = (try? channel.send(greeting, Self.nothing)) != nil
        // The helper ends if its worker has ended or sends an invalid message, or if a layer that the kernel has is not in
        // place.
        while greeting.problem == nil, isGreeted,
            let (job, bytes) = try? channel.receive(
                HelperJob.self, maxHeaderBytes: HelperChannel.maxJobHeaderBytes, maxBytes: .max)
        {
            do throws(PhotoProduct.Failure) {
                try answer(try develop(job, bytes), job)
            } catch {
                let answer = HelperAnswer(
                    reason: (error.reason ?? .other).word, detail: HelperAnswer.cut(error.detail))
                // If the answer cannot be sent, the worker has ended.
                guard (try? channel.send(answer, Self.nothing)) != nil else { break }
            }
        }
        // No cleanup is needed, and the exit handlers of the libraries take time.
        _exit(0)
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private func answer(_ product: PhotoProduct, _ job: HelperJob) throws(PhotoProduct.Failure) {
        guard job.operation == nil || product.byteCount <= job.maxBytes else {
            throw PhotoProduct.Failure(
                reason: .filterFailed,
                detail:
                    "made a file of \(product.byteCount) bytes, more than the limit of \(job.maxBytes) "
                    + "(HelperLimits.ownFileBytes)"
            )
        }
        var header = HelperAnswer()
        if case .image(let image) = product { header.format = image.format.rawValue }
        (header.width, header.height) = (product.width, product.height)
        // If the answer cannot be sent, the worker has ended: the next read fails and ends this process.
        try product.withUnsafeBytes { bytes throws(PhotoProduct.Failure) in try? channel.send(header, bytes) }
    }

    private func develop(_ job: HelperJob, _ bytes: [UInt8]) throws(PhotoProduct.Failure) -> PhotoProduct {
        guard let name = job.operation else {
            let options: DevelopOptions
            do {
                options = try job.developOptions()
            } catch {
                throw PhotoProduct.Failure(reason: .other, detail: "\(error)")
            }
            var largest = 0
            return try PhotoProduct.make(
                bytes, options,
                sizeIsKnown: { pixels in
                    guard pixels > largest else { return }
                    largest = pixels
                    // If this message cannot be sent, the worker has ended, and the answer fails, too.
                    try? channel.send(HelperAnswer(pixels: pixels), Self.nothing)
                })
        }
        guard let make = operations[name] else {
            throw PhotoProduct.Failure(
                reason: .other, detail: "the helper process has no operation \"\(name)\": register it before its start")
        }
        return try PhotoProduct.run(make(), job.record, bytes, within: .seconds(job.seconds))
    }
}
