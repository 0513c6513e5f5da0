import DarkroomOrigins
import DarkroomTransfer

extension WorkerCore {
    /// Fetches the bytes of a photo from its origin, or from the folder of originals of its batch.
    func fetch(_ photo: RunningPhoto, _ request: PhotoRequest, _ completion: @escaping FetchCompletion) {
        do throws(TransferError) {
            let url = photo.record.url, origin = try origins.origin(of: url)
            guard let originals = photo.context.originals, OriginSchemes.isKept(url) else {
                return origin.fetch(request, completion: completion)
            }
            let cached = CachedOrigin(origin, originals, originalsCalls) { [self, context = photo.context] in
                isWaitedFor($0, of: context)
            }
            cached.fetch(request, completion: completion)
        } catch {
            completion(.failure(request.mayBegin() ? error : .cancelled))
        }
    }
}
