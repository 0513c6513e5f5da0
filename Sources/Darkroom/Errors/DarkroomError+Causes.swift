import DarkroomCoordinator
import DarkroomFileNames
import DarkroomRedis
import DarkroomStore

extension DarkroomError {
    /// The public error for an error of the layers below. The text of that error becomes the message.
    init(_ error: any Error, _ attempted: String) {
        if let error = error as? DarkroomError {
            self = error
        } else {
            self.init(Self.code(of: error), attempted, "\(error)", cause: error)
        }
    }

    private static func code(of error: any Error) -> Code {
        switch error {
        case let error as RedisError: code(of: error)
        case let error as StoreError: code(of: error)
        case let error as CoordinatorError: code(of: error)
        case is PhotoListError: .listUnreadable
        case is ManifestError: .manifestUnreadable
        case is FileNameTemplate.Problem: .invalidOptions
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

    private static func code(of error: CoordinatorError) -> Code {
        switch error.code {
        case .emptyList: .listEmpty
        case .listDiffers: .listDiffers
        case .batchGone: .noSuchBatch
        case .finished: .batchFinished
        case .cancelled: .batchCancelled
        case .started: .batchStarted
        case .circle, .itself: .circularDependency
        case .notFed: .photosNotFed
        case .outsideList: .photosOutsideList
        case .outOfBounds: .invalidOptions
        case .busy: .busy
        case .redisUnreachable: .redisUnreachable
        case .redisRefused: .redisRefused
        case .notDurable: .notDurable
        case .outputDenied, .folderInUse: .outputUnusable
        case .outputTaken: .outputTaken
        case .nameTaken: .nameTaken
        case .stopped, .stateDiffers, .stateLost: .other
        }
    }
}
