import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import DarkroomOrigins
import DarkroomStorage
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// A filtration: develops a downloaded photo, and stores its files.
struct PhotoFiltration {
    let photo: RunningPhoto
    let image: Download
    /// The id of the worker.
    let worker: String
    /// The number of the attempt, unique among all photos of the worker.
    let attempt: Int
    let fileCalls: FileCalls
    /// Called before the files get their names; if it returns false, the files are removed.
    let isWanted: @Sendable () -> Bool
    /// Called if a file could not be stored; if it returns true, the photo is started again later.
    let isWaitedFor: @Sendable (StorageFault) -> Bool

    /// Develops and stores the photo. Blocks until the files are stored. Call it on a thread of the filtration queue.
    /// - Parameter maker: makes the files.
    /// - Returns: nil if the photo was cancelled, is no longer wanted, or will be started again. In these cases, no
    ///   file is left. A photo whose bytes in the folder of originals cannot be decoded starts again with a download.
    func run(_ maker: PhotoMaker) -> PhotoOutcome? {
        guard !photo.cancellation.isCancelled else { return nil }
        let clock = ContinuousClock()
        let began = clock.now
        let products: [PhotoProduct]
        do throws(PhotoProduct.Failure) {
            products = try maker.make(image.body, of: photo.record) { [cancellation = photo.cancellation] in
                cancellation.isCancelled
            }
        } catch {
            return error.reason.flatMap { undecoded($0, error.detail) }
        }
        let filtered = clock.now
        guard !photo.cancellation.isCancelled else { return nil }

        do throws(StorageFault) {
            guard try replaceOriginal() else { return nil }
        } catch {
            return failure(error.reason, error.detail)
        }
        let time = photo.context.options.keepsTimes ? image.time : nil
        let isStored = photo.context.storage.isKept
        let files: [ManifestLine.File]
        do throws(StorageFault) {
            let stored = try storing { () throws(StorageFault) in
                try photo.sink.write(
                    products.map { $0.file(time) }, of: photo.record, attempt: attempt, isWanted: isWanted)
            }
            guard let stored else { return nil }
            files = stored
        } catch {
            var outcome = failure(error.reason, error.detail)
            outcome.writeBegan = filtered
            return outcome
        }
        var line = ManifestLine(batch: photo.context.id, record: photo.record, state: .filtered)
        line.note(files)
        line.note = products.lazy.compactMap(\.note).first
        line.original = Self.original(of: photo)
        line.downloadMilliseconds = image.duration.wholeMilliseconds
        line.filterMilliseconds = (filtered - began).wholeMilliseconds
        line.writeMilliseconds = (clock.now - filtered).wholeMilliseconds
        var outcome = PhotoOutcome(
            state: .filtered, line: line, bytesIn: image.transferredBytes,
            bytesOut: products.reduce(0) { $0 + $1.byteCount })
        outcome.lostGainMap = products.contains(where: \.lostGainMap)
        if isStored { outcome.writeBegan = filtered }
        return outcome
    }

    /// The outcome of a photo that cannot be developed from its bytes. Removes bytes that cannot be decoded from the
    /// folder of originals. Exception: if a new download gives other bytes, kept bytes of a picture stay, because
    /// another batch may have used them.
    /// - Returns: nil if the bytes are from the folder of originals and cannot be decoded. The photo is then downloaded
    ///   again, because the server may have sent an error page, or a part of the photo, only that one time.
    private func undecoded(_ reason: FailureReason, _ detail: String) -> PhotoOutcome? {
        var outcome = failure(reason, detail)
        guard outcome.line.original != nil, let originals = photo.context.originals else { return outcome }
        let index = photo.record.index
        guard reason.isOfBytes else {
            let kept = originals.takeUnusable(index)
            if kept != nil { outcome.line.original = nil }  // the failure is not that of the kept bytes
            return outcome
        }
        let digest = SHA256Digest.hash(of: image.body)
        if image.attempts == 0 {
            originals.note(BatchOriginals.Unusable(reason: reason, detail: detail, digest: digest), of: index)
            return nil
        }
        let kept = originals.takeUnusable(index)
        if let kept, kept.digest != digest, kept.reason != .notAnImage {
            return failure(kept.reason, kept.detail(after: reason, detail))
        }
        let isRemoved = fileCalls.run(for: photo.operation) {
            originals.folder.remove(photo.record.url, ifDigestIs: kept?.digest ?? digest)
        }
        if isRemoved { outcome.line.original = nil }
        return outcome
    }

    /// Writes downloaded bytes to the folder of originals if the bytes there cannot be decoded. Returns false if the photo
    /// will be started again.
    private func replaceOriginal() throws(StorageFault) -> Bool {
        let index = photo.record.index
        guard let originals = photo.context.originals, originals.isUnusable(index) else { return true }
        let written: Void? = try storing { () throws(StorageFault) in
            try originals.folder.write(
                image.body, of: photo.record, by: image.way, time: image.time, for: photo.operation,
                writer: "\(worker).\(attempt)")
        }
        guard written != nil else { return false }
        originals.takeUnusable(index)
        return true
    }

    /// Runs `body`, which makes storage calls.
    /// - Returns: nil if `body` returned nil, or if the photo will be started again because of the error of `body`.
    private func storing<Value>(_ body: () throws(StorageFault) -> Value?) throws(StorageFault) -> Value? {
        try fileCalls.run(for: photo.operation) { () throws(StorageFault) in
            do throws(StorageFault) {
                return try body()
            } catch {
                // This check is a part of the call, because `isWaitedFor` may also access the storage.
                guard isWaitedFor(error) else { throw error }
                return nil
            }
        }
    }

    /// The outcome of a photo whose download failed. If kept bytes could not be decoded before, the outcome has the
    /// failure reason of the kept bytes.
    static func failure(_ photo: RunningPhoto, _ reason: FailureReason, _ error: TransferError) -> PhotoOutcome {
        let kept = photo.context.originals?.takeUnusable(photo.record.index)
        let detail = kept?.detail(after: reason, error.detail) ?? error.detail
        var outcome = failure(photo, kept?.reason ?? reason, detail)
        outcome.line.attempts = error.attempts
        if kept != nil { outcome.line.original = original(of: photo) }
        return outcome
    }

    /// The outcome of a photo that failed after its download.
    private func failure(_ reason: FailureReason, _ detail: String) -> PhotoOutcome {
        var outcome = Self.failure(photo, reason, detail)
        outcome.bytesIn = image.transferredBytes
        outcome.line.original = Self.original(of: photo)
        outcome.line.attempts = image.attempts
        outcome.line.downloadMilliseconds = image.duration.wholeMilliseconds
        return outcome
    }

    /// The path of the downloaded bytes of a photo; nil if they are not kept.
    private static func original(of photo: RunningPhoto) -> String? {
        let url = photo.record.url
        return photo.context.originals != nil && OriginSchemes.isKept(url) ? OriginalsFolder.file(of: url) : nil
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

extension PhotoProduct {
    /// - Parameter time: the time that the file gets; nil for the current time.
    fileprivate func file(_ time: FileTime?) -> MadeFile {
        MadeFile(ending: ending, width: picture?.width, height: picture?.height, byteCount: byteCount, time: time) {
            write throws(SystemFailure) in
            try withUnsafeBytes(write)
        }
    }
}
