import DarkroomLists
import DarkroomModel

/// A photo list in memory; `onPhoto` and `url` may act differently each time the list is read.
struct SampleList: PhotoListSource {
    var count: Int
    /// Called before each photo, with its index.
    var onPhoto: (Int) throws -> Void = { _ in }
    var url: (Int) -> String = { "http://photos.example/\($0).jpg" }

    func read(_ receive: (ListEntry) -> Bool) throws {
        for index in 0..<count {
            try onPhoto(index)
            guard ListEntry.with(name: "photo \(index)", url: url(index), receive) else { return }
        }
    }

    func rewind() {}
}
