import DarkroomTransfer
import Foundation

/// Filters and writes one photo once its downloader, which it depends on, has its bytes.
final class ImageFiltration: Operation, @unchecked Sendable {  // nothing of it changes after `init`
    private let photo: PhotoInProgress
    private let work: @Sendable (PhotoInProgress, Download) -> Void

    /// - Parameter work: what is done with the bytes; not called when the download gave none.
    init(_ photo: PhotoInProgress, work: @escaping @Sendable (PhotoInProgress, Download) -> Void) {
        self.photo = photo
        self.work = work
        super.init()
        qualityOfService = .utility
        queuePriority = .normal
    }

    override func main() {
        // Cancelled, too, it goes this way: who takes the bytes throws them away and tells the ledger.
        guard let provider = dependencies.lazy.compactMap({ $0 as? any ImageDataProvider }).first,
            let image = provider.takeImage()
        else { return }
        work(photo, image)
    }
}
