import CSystem
import DarkroomImaging
import DarkroomModel
import DarkroomText
import Foundation

/// The environment of a helper process. A helper gets these variables of its worker, those that
/// ``WorkerConfiguration/useThisProgramAsHelper(arguments:environment:)`` is given, and no others, such as the password of
/// Redis.
package enum HelperEnvironment {
    /// The names of the variables that it gets where they are set: how its libraries are found and behave.
    package static let names: Set<String> = [
        "LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH", "VIPSHOME", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "ASAN_OPTIONS",
        "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]
}

/// What a helper process does.
package struct HelperService {
    /// What marks a process as helper, among its environment's variables.
    static let mark = "DARKROOM_PHOTO_HELPER"
    /// Whether this process was started as a helper.
    package static var isHelper: Bool { ProcessInfo.processInfo.environment[mark] != nil }

    let operations: [String: @Sendable () -> any PhotoOperation]
    private let channel = HelperChannel(descriptor: STDIN_FILENO)

    package init(operations: [String: @Sendable () -> any PhotoOperation]) { self.operations = operations }

    /// Confines this process to what developing photos needs, as far as the kernel supports it (see `doctor`).
    /// - Returns: the greeting for the worker: all layers that the kernel has are in place, or why one is not.
    private func confine() -> HelperGreeting {
        csystem_offer_to_memory_killer()
        csystem_hide_process()
        if csystem_confine_files() < 0 { return Self.problem("Landlock", "files") }
        // What libraries load when they are used first, they load now: libheif has plug-ins.
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

    /// Develops what it is asked to until its worker is gone.
    package func run() -> Never {
        let greeting = confine()
        // The channel fails only when the worker is gone. Then nobody is left to report an error to.
        let isGreeted = (try? channel.send(greeting, Self.nothing)) != nil
        // The helper ends when its worker is gone or sends an invalid message, and if a layer that the kernel has is not in
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
                // A worker that takes no answer is gone.
                guard (try? channel.send(answer, Self.nothing)) != nil else { break }
            }
        }
        // Nothing is left to be put in order, and what libraries do at the end of a process takes time.
        _exit(0)
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private func answer(_ product: PhotoProduct, _ job: HelperJob) throws(PhotoProduct.Failure) {
        guard job.operation == nil || product.byteCount <= job.maxBytes else {
            throw PhotoProduct.Failure(
                reason: .filterFailed,
                detail:
                    "made a file of \(product.byteCount) bytes, at most \(job.maxBytes) may be (HelperLimits.ownFileBytes)"
            )
        }
        var header = HelperAnswer()
        if case .image(let image) = product { header.format = image.format.rawValue }
        (header.width, header.height) = (product.width, product.height)
        // A worker that takes no answer is gone: the next message to wait for does not come, and that ends the process.
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
                    // A worker that takes no message is gone, which the answer finds out.
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
