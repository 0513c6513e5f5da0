import DarkroomCoordinator

/// A photo list in memory; `onPhoto` and `url` may act differently each time the list is read.
struct SampleList: PhotoListSource {
    var count: Int
    /// Called before each photo, with its index.
    var onPhoto: (Int) throws -> Void = { _ in }
    var url: (Int) -> String = { "http://photos.example/\($0).jpg" }

    func read(_ receive: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) throws {
        for index in 0..<count {
            try onPhoto(index)
            let continues = "photo \(index)".utf8.withContiguousStorageIfAvailable { name in
                Array(url(index).utf8).withUnsafeBytes { receive(UnsafeRawBufferPointer(name), $0) }
            }
            if continues == false { return }
        }
    }

    func rewind() {}
}
