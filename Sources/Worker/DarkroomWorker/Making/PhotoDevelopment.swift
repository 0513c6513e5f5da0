import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import DarkroomOutput
import DarkroomText
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Filters a photo's bytes and writes the result to the output folder.
enum PhotoDevelopment {
    /// Filters and writes one photo. Blocks until the file is written. Call it on a thread of the filtration queue.
    /// - Parameters:
    ///   - maker: makes the files.
    ///   - temporaryName: the name of the temporary file; hidden and unique in the output folder.
    ///   - isWanted: called before the file gets its final name; if it returns false, the file is removed.
    ///   - isWaitedFor: called if the file could not be written; if it returns true, the photo is started again later.
    /// - Returns: nil if the photo was cancelled, is no longer wanted, or will be started again. No file is left. A photo
    ///   whose bytes in the folder of originals cannot be decoded starts again with a download.
    static func develop(
        _ photo: RunningPhoto, _ image: Download, maker: PhotoMaker, fileCalls: FileCalls, temporaryName: String,
        isWanted: @Sendable () -> Bool, isWaitedFor: @Sendable (OutputWriter.Failure) -> Bool
    ) -> PhotoOutcome? {
        guard !photo.cancellation.isCancelled else { return nil }
        let clock = ContinuousClock()
        let began = clock.now
        let products: [PhotoProduct]
        do throws(PhotoProduct.Failure) {
            products = try maker.make(image.body)
        } catch {
            return error.reason.flatMap { undecoded(photo, image, $0, error.detail, fileCalls) }
        }
        let filtered = clock.now
        guard !photo.cancellation.isCancelled else { return nil }

        do throws(OutputWriter.Failure) {
            guard try replaceOriginal(of: photo, by: image, temporaryName, fileCalls, isWaitedFor) else { return nil }
        } catch {
            return failure(photo, error.reason, error.detail, image)
        }
        let output = photo.context.output
        let paths = output.place == nil ? [] : output.paths(of: photo.record, endings: products.map(\.ending))
        if let place = output.place {
            let time = photo.context.options.keepsTimes ? image.time : nil
            let files = zip(paths, products).map { path, product in
                OutputWriter.File(path: path, byteCount: product.byteCount, time: time) { write throws(SystemFailure) in
                    try product.withUnsafeBytes(write)
                }
            }
            do throws(OutputWriter.Failure) {
                let isWritten = try fileCalls.run(for: photo.operation) { () throws(OutputWriter.Failure) in
                    do throws(OutputWriter.Failure) {
                        return try OutputWriter.write(
                            files, in: place, temporaryName: temporaryName, isWanted: isWanted)
                    } catch {
                        // `isWaitedFor` also accesses the folder.
                        guard isWaitedFor(error) else { throw error }
                        return false
                    }
                }
                guard isWritten else { return nil }
            } catch {
                var outcome = failure(photo, error.reason, error.detail, image)
                outcome.writeBegan = filtered
                return outcome
            }
        }
        var line = ManifestLine(batch: photo.context.id, record: photo.record, state: .filtered)
        line.note(products, paths, of: output)
        line.note = products.lazy.compactMap(\.note).first
        line.original = original(of: photo)
        line.downloadMilliseconds = image.duration.wholeMilliseconds
        line.filterMilliseconds = (filtered - began).wholeMilliseconds
        line.writeMilliseconds = (clock.now - filtered).wholeMilliseconds
        var outcome = PhotoOutcome(
            state: .filtered, line: line, bytesIn: image.transferredBytes,
            bytesOut: products.reduce(0) { $0 + $1.byteCount })
        outcome.lostGainMap = products.contains(where: \.lostGainMap)
        if output.place != nil { outcome.writeBegan = filtered }
        return outcome
    }

    /// The outcome of a photo whose bytes cannot be made into its files. Bytes that cannot be decoded are removed from the
    /// folder of originals, except kept bytes that another batch may have used, if another download gives other bytes.
    /// - Returns: nil if kept bytes cannot be decoded. Then the photo starts again with a download, because the kept bytes
    ///   may be an error page, or a part of the photo, that the server has sent only once.
    private static func undecoded(
        _ photo: RunningPhoto, _ image: Download, _ reason: FailureReason, _ detail: String, _ fileCalls: FileCalls
    ) -> PhotoOutcome? {
        var outcome = failure(photo, reason, detail, image)
        guard outcome.line.original != nil, let originals = photo.context.output.originals else { return outcome }
        let index = photo.record.index
        guard reason.isOfBytes else {
            let kept = photo.context.unusableOriginals.withLock { $0.removeValue(forKey: index) }
            if kept != nil { outcome.line.original = nil }  // the failure is not that of the kept bytes
            return outcome
        }
        let digest = SHA256Digest.hash(of: image.body)
        if image.attempts == 0 {
            let original = BatchContext.UnusableOriginal(reason: reason, detail: detail, digest: digest)
            photo.context.unusableOriginals.withLock { $0[index] = original }
            return nil
        }
        let kept = photo.context.unusableOriginals.withLock { $0.removeValue(forKey: index) }
        if let kept, kept.digest != digest, kept.reason != .notAnImage {
            return failure(photo, kept.reason, kept.detail(after: reason, detail), image)
        }
        let isRemoved = fileCalls.run(for: photo.operation) {
            originals.remove(photo.record.url, ifDigestIs: kept?.digest ?? digest)
        }
        if isRemoved { outcome.line.original = nil }
        return outcome
    }

    /// Writes downloaded bytes to the folder of originals if the bytes there cannot be decoded. Returns false if the photo
    /// will be started again.
    private static func replaceOriginal(
        of photo: RunningPhoto, by image: Download, _ temporaryName: String, _ fileCalls: FileCalls,
        _ isWaitedFor: (OutputWriter.Failure) -> Bool
    ) throws(OutputWriter.Failure) -> Bool {
        let index = photo.record.index
        guard let originals = photo.context.output.originals,
            photo.context.unusableOriginals.withLock({ $0[index] }) != nil
        else { return true }
        let name = StaleFiles.temporaryName(
            for: OriginalsFolder.temporaryName(for: photo.record, of: photo.operation.batch),
            fencingToken: photo.operation.fencingToken, worker: temporaryName)
        let isWritten = try fileCalls.run(for: photo.operation) { () throws(OutputWriter.Failure) in
            do throws(OutputWriter.Failure) {
                try originals.write(
                    image.body, of: photo.record.url, by: image.way, time: image.time, temporaryName: name)
                return true
            } catch {
                // This is within the call of the folder, because `isWaitedFor` also accesses the folder.
                guard isWaitedFor(error) else { throw error }
                return false
            }
        }
        if isWritten { photo.context.unusableOriginals.withLock { $0[index] = nil } }
        return isWritten
    }

    /// The outcome of a photo whose download failed. If kept bytes could not be decoded before, that is the reason.
    static func failure(_ photo: RunningPhoto, _ reason: FailureReason, _ error: TransferError) -> PhotoOutcome {
        let kept = photo.context.unusableOriginals.withLock { $0.removeValue(forKey: photo.record.index) }
        let detail = kept?.detail(after: reason, error.detail) ?? error.detail
        var outcome = failure(photo, kept?.reason ?? reason, detail)
        outcome.line.attempts = error.attempts
        if kept != nil { outcome.line.original = original(of: photo) }
        return outcome
    }

    /// The outcome of a photo that failed after its download.
    private static func failure(
        _ photo: RunningPhoto, _ reason: FailureReason, _ detail: String, _ image: Download
    ) -> PhotoOutcome {
        var outcome = failure(photo, reason, detail)
        outcome.bytesIn = image.transferredBytes
        outcome.line.original = original(of: photo)
        outcome.line.attempts = image.attempts
        outcome.line.downloadMilliseconds = image.duration.wholeMilliseconds
        return outcome
    }

    /// The path of the downloaded bytes of a photo; nil if they are not kept.
    private static func original(of photo: RunningPhoto) -> String? {
        let url = photo.record.url
        return photo.context.output.originals == nil || PhotoURL.isFile(url) ? nil : OriginalsFolder.file(of: url)
    }

    static func failure(_ photo: RunningPhoto, _ reason: FailureReason, _ detail: String) -> PhotoOutcome {
        var line = ManifestLine(batch: photo.context.id, record: photo.record, state: .failed(reason))
        line.detail = detail
        return PhotoOutcome(state: .failed(reason), line: line)
    }
}

extension FailureReason {
    /// Whether another download may give bytes that can be decoded.
    fileprivate var isOfBytes: Bool { self == .notAnImage || self == .damaged || self == .unsupportedFormat }
}

extension ManifestLine {
    /// Adds the facts about the files of a photo.
    fileprivate mutating func note(_ products: [PhotoProduct], _ paths: [String], of output: BatchOutput) {
        var files: [ManifestLine.File] = []
        for (position, product) in products.enumerated() {
            let kind = output.files[position]
            let isWritten = !paths.isEmpty
            files.append(
                ManifestLine.File(
                    rendition: kind.rendition, filters: kind.filters, file: isWritten ? paths[position] : nil,
                    width: product.width, height: product.height, bytes: product.byteCount,
                    sha256: isWritten
                        ? Hexadecimal.text(product.withUnsafeBytes { SHA256Digest.hash(of: $0) }) : nil))
        }
        note(files)
    }
}
