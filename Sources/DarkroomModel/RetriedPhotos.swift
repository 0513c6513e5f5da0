/// What ``DarkroomClient`` has done to retry failed photos.
public struct RetriedPhotos: Sendable, Equatable {
    /// Failed photos that run again.
    public package(set) var photos: Int
    /// Failed photos that stay failed, because Redis does not have their names and URLs any more: only the list has.
    public package(set) var notKept: Int

    package init(photos: Int = 0, notKept: Int = 0) {
        self.photos = photos
        self.notKept = notKept
    }
}
