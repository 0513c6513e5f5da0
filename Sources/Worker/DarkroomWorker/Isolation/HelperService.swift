import CSystem
import DarkroomImaging
import DarkroomModel
import DarkroomText
import Foundation

/// The environment of a helper process: these variables of the worker, and the variables that are passed to
/// ``PhotoWorkerConfiguration/useThisProgramAsHelper(arguments:environment:)``. No other variables, such as the password of
/// Redis, are passed.
package enum HelperEnvironment {
    /// The names of the variables that configure the libraries.
    package static let names: Set<String> = [
        "LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH", "VIPSHOME", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "ASAN_OPTIONS",
        "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]
}

struct HelperService {
    /// The environment variable that marks helper processes.
    static let mark = "DARKROOM_PHOTO_HELPER"
    /// Whether this process was started as a helper.
    static var isHelper: Bool { ProcessInfo.processInfo.environment[mark] != nil }

    let customFilters: [String: CustomFilterCode]
    private let channel = HelperChannel(descriptor: STDIN_FILENO)

    init(customFilters: [String: CustomFilterCode]) { self.customFilters = customFilters }

    /// Confines this process to the files and system calls that it needs to develop photos, as far as the kernel
    /// supports the confinement (see `doctor`).
    /// - Returns: the greeting for the worker. The greeting contains a problem if a layer failed although the kernel
    ///   supports this layer.
    private func confine() -> HelperGreeting {
        csystem_offer_to_memory_killer()
        csystem_hide_process()
        if csystem_confine_files() < 0 { return Self.problem("Landlock", "files") }
        // Libraries load files such as the plug-ins of libheif at their first use. This call makes the libraries load
        // such files before system calls are restricted.
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

    /// Develops photos until the worker has ended.
    func run() -> Never {
        let greeting = confine()
        // Sending fails only if the worker process has ended, so there is no process to report the error to.
        let isGreeted = (try? channel.send(greeting, Self.nothing)) != nil
        // The helper ends if the worker has ended or sends an invalid message, or if a layer of the confinement failed
        // although the kernel supports it.
        while greeting.problem == nil, isGreeted,
            let (job, bytes) = try? channel.receive(
                HelperJob.self, maxHeaderBytes: HelperChannel.maxJobHeaderBytes, maxBytes: .max)
        {
            do throws(PhotoProduct.Failure) {
                let products = try develop(job, bytes)
                let count = products.reduce(0) { $0 + $1.byteCount }
                guard count <= job.maxBytes else {
                    throw PhotoProduct.Failure(
                        reason: .filterFailed, detail: "made \(count) bytes, more than the limit of \(job.maxBytes)")
                }
                answer(products, job)
            } catch {
                let answer = HelperAnswer(
                    reason: (error.reason ?? .other).word, detail: HelperAnswer.cut(error.detail))
                // If the answer cannot be sent, the worker has ended.
                guard (try? channel.send(answer, Self.nothing)) != nil else { break }
            }
        }
        // `_exit` skips the exit handlers of the libraries: they would take time, and no cleanup is needed.
        _exit(0)
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private func answer(_ products: [PhotoProduct], _ job: HelperJob) {
        var header = HelperAnswer()
        if job.customFilter == nil {
            header.note = products.lazy.compactMap(\.note).first
            header.files = products.map { product in
                HelperAnswer.File(
                    format: product.picture?.format.rawValue ?? "", width: product.picture?.width ?? 0,
                    height: product.picture?.height ?? 0, bytes: product.byteCount, lostGainMap: product.lostGainMap)
            }
        }
        // If the answer cannot be sent, the worker has ended. In that case the next read fails, and this process ends.
        if products.count == 1 {
            products[0].withUnsafeBytes { try? channel.send(header, $0) }
        } else {
            let bytes = products.flatMap(\.bytes)
            bytes.withUnsafeBytes { bytes in try? channel.send(header, bytes) }
        }
    }

    private func develop(_ job: HelperJob, _ bytes: [UInt8]) throws(PhotoProduct.Failure) -> [PhotoProduct] {
        if let filter = job.customFilter {
            return [PhotoProduct(try run(filter, bytes, job), ending: "")]
        }
        let development: (photo: [UInt8], options: DevelopOptions)
        do {
            development = try job.development(bytes)
        } catch {
            throw PhotoProduct.Failure(reason: .other, detail: "\(error)")
        }
        var largest = 0
        return try PhotoMaker.develop(
            development.photo, development.options,
            sizeIsKnown: { pixels in
                guard pixels > largest else { return }
                largest = pixels
                // Sending fails only if the worker has ended. In that case the helper cannot send the answer either.
                try? channel.send(HelperAnswer(pixels: pixels), Self.nothing)
            })
    }

    private func run(
        _ filter: HelperJob.Custom, _ bytes: [UInt8], _ job: HelperJob
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        guard case .registered(let make) = customFilters[filter.name] else {
            throw PhotoProduct.Failure(
                reason: .other,
                detail: "the helper process has no custom filter \"\(filter.name)\": register it before its start")
        }
        return try PhotoMaker.run(
            make(), filter.filter, filter.record, bytes,
            DevelopOptions(outputs: [], maxPixels: job.maxPixels, processorTime: .seconds(job.seconds)))
    }
}
