import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomLists

@Suite struct PhotoSelectionTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func numbers(_ photos: SelectedPhotos) throws -> [Int] {
        var numbers: [Int] = []
        try photos.forEach { entry in
            numbers.append(Int(String(decoding: entry.name, as: UTF8.self)) ?? -1)
            return true
        }
        return numbers
    }

    /// The selected photos of a list of photos named 0 to `count` - 1.
    private func select(_ selection: PhotoSelection, of count: Int) throws -> SelectedPhotos {
        let list = try scratch.write("list.txt", (0..<count).map { "http://photos.example/\($0)\n" }.joined())
        return try SelectedPhotos(PhotoListReader(list), selection)
    }

    @Test(arguments: [(PhotoSelection.all, 7), (.first(1), 1), (.first(6), 6), (.first(7), 7), (.first(100), 7)])
    func takesTheFirstPhotos(_ selection: PhotoSelection, _ count: Int) throws {
        let photos = try select(selection, of: 7)
        #expect(try numbers(photos) == Array(0..<count))
        try photos.rewind()
        #expect(try numbers(photos) == Array(0..<count))
    }

    @Test func limitDoesNotWaitForLaterPhotos() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("http://h/0\nhttp://h/1\nhttp://h/2\n".utf8))
        // The pipe stays open, so reading a fourth photo would block.
        let list = try PhotoListReader("-", standardInput: pipe.fileHandleForReading.fileDescriptor)
        #expect(try numbers(SelectedPhotos(list, .first(2))) == [0, 1])
        try pipe.fileHandleForWriting.close()
    }

    @Test func sampleIsInTheOrderOfTheListAndDependsOnlyOnTheSeed() throws {
        func sample(_ seed: Int) -> PhotoSelection { .sample(PhotoSelection.Sample(photos: 100, seed: seed)) }
        let photos = try select(sample(5), of: 20_000)
        let taken = try numbers(photos)
        #expect(taken.count == 100 && Set(taken).count == 100 && taken == taken.sorted())
        try photos.rewind()
        #expect(try numbers(photos) == taken)
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.path("list.txt")))
        let list = try PhotoListReader("-", standardInput: input.fileDescriptor)
        #expect(try numbers(SelectedPhotos(list, sample(5))) == taken)
        #expect(try numbers(select(sample(6), of: 20_000)) != taken)
    }

    /// A seed that a user has noted must select the same photos in later versions.
    @Test func sampleOfASeedNeverChanges() throws {
        let photos = try select(.sample(PhotoSelection.Sample(photos: 5, seed: 42)), of: 20)
        #expect(try numbers(photos) == [1, 4, 10, 15, 16])
    }

    @Test(arguments: [1, 7, 8, 1_000_000])
    func sampleLargerThanTheListTakesAll(_ size: Int) throws {
        let photos = try select(.sample(PhotoSelection.Sample(photos: size, seed: 1)), of: 7)
        #expect(try numbers(photos).count == min(size, 7))
    }

    @Test func everyPhotoIsEquallyLikely() {
        var taken = [Int](repeating: 0, count: 20)
        for seed in 0..<2000 {
            var sampling = PhotoSampling(PhotoSelection.Sample(photos: 5, seed: seed), of: 20)
            for photo in 0..<20 where sampling.takesNext() { taken[photo] += 1 }
            #expect(sampling.isComplete)
        }
        // The expected count is 500, and its standard deviation is 19.4.
        #expect(taken.allSatisfy { (400...600).contains($0) }, "\(taken)")
    }

    /// The sample is drawn from the counted photos. Photos that are appended to the list later are not drawn.
    @Test func samplingIgnoresPhotosAfterTheCountedPhotos() {
        var sampling = PhotoSampling(PhotoSelection.Sample(photos: 9, seed: 1), of: 3)
        #expect((0..<5).map { _ in sampling.takesNext() } == [true, true, true, false, false])
    }
}
