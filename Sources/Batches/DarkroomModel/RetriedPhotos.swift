/// The result of retrying failed photos with ``DarkroomClient``.
public struct RetriedPhotos: Sendable, Equatable {
    /// The number of failed photos that run again.
    public package(set) var photos: Int
    /// The number of failed photos that do not run again, because their names and URLs are no longer in Redis.
    public package(set) var notKept: Int

    package init(photos: Int = 0, notKept: Int = 0) {
        self.photos = photos
        self.notKept = notKept
    }
}
