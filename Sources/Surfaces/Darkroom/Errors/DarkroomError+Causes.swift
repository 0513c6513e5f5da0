import DarkroomCoordinator
import DarkroomLists
import DarkroomRedis
import DarkroomStorage
import DarkroomStore

extension DarkroomError {
    /// Converts an error of a lower layer to a `DarkroomError`. The description of `error` becomes the message.
    package init(_ error: any Error, _ attempted: String) {
        if let error = error as? DarkroomError {
            self = error
        } else {
            let problem = error as? any Remediable
            self.init(
                Self.code(of: error), attempted, problem?.problem ?? "\(error)", problem?.remedies ?? [], cause: error)
        }
    }

    private static func code(of error: any Error) -> Code {
        switch error {
        case let error as RedisError: code(of: error)
        case let error as StoreError: code(of: error)
        case let error as CoordinatorError: coordinatorCodes[error.code] ?? .other
        case is PhotoListError: .listUnreadable
        case is ManifestError: .manifestUnreadable
        case is FieldError: .invalidOptions
        default: .other
        }
    }

    private static func code(of error: RedisError) -> Code {
        if error.isPassing { return .redisUnreachable }
        return error.code == .invalidAddress ? .invalidConfiguration : .redisRefused
    }

    private static func code(of error: StoreError) -> Code {
        switch error.code {
        case .noSuchBatch: .noSuchBatch
        case .ambiguousBatch: .ambiguousName
        case .unsuitableRedis: .unsuitableRedis
        default: error.redis.map(code(of:)) ?? .other
        }
    }

    private static let coordinatorCodes: [CoordinatorError.Code: Code] = [
        .emptyList: .listEmpty, .listDiffers: .listDiffers, .batchGone: .noSuchBatch, .finished: .batchFinished,
        .cancelled: .batchCancelled, .started: .batchStarted, .circularDependency: .circularDependency,
        .itself: .circularDependency, .notFed: .photosNotFed, .outsideList: .photosOutsideList,
        .outOfBounds: .invalidOptions, .busy: .busy, .redisUnreachable: .redisUnreachable,
        .redisRefused: .redisRefused, .notDurable: .notDurable, .outputDenied: .outputUnusable,
        .outputTaken: .outputTaken, .nameTaken: .nameTaken, .folderInUse: .outputUnusable,
    ]
}
