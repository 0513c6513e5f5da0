import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomTransfer
import Foundation

@testable import DarkroomStorage

extension OriginalsFolder {
    init(in folder: String, maxBytes: Int = 1000) {
        self.init(place: OutputPlace(folder: folder, marker: nil), maxBytes: maxBytes)
    }

    /// Writes the bytes of a URL as the first attempt of a worker does.
    func write(_ bytes: [UInt8], of url: String, by way: [RequestStop]) throws(StorageFault) {
        try write(bytes, of: .example(url), by: way, for: .example(), writer: "worker.1")
    }
}

extension PhotoRecord {
    static func example(_ url: String) -> PhotoRecord { PhotoRecord(index: 0, name: "", url: url) }
}

extension HeldOperation {
    static func example(_ number: Int = 1) -> HeldOperation {
        HeldOperation(batch: BatchID("batch"), number: number, fencingToken: 1)
    }
}

extension PhotoOrigin {
    /// Fetches a photo, and returns when the fetch has ended.
    func fetch(_ request: PhotoRequest) async -> Result<Download, TransferError> {
        await withCheckedContinuation { continuation in
            fetch(request) { continuation.resume(returning: $0) }
        }
    }

    func fetch(_ url: String) async -> Result<Download, TransferError> {
        await fetch(PhotoRequest(.example(url), of: .example()))
    }
}

extension Result where Success == Download, Failure == TransferError {
    var body: [UInt8]? { if case .success(let download) = self { download.body } else { nil } }

    var code: TransferError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
