import CImaging
import Testing

@testable import DarkroomImaging

/// The memory of pictures.
@Suite struct PictureTests {
    private static func address(
        _ access: (Picture.RasterOperation) throws(ImagingError) -> Void
    ) throws -> UnsafeMutableRawPointer? {
        var address: UnsafeMutableRawPointer?
        try access { raster, _ in
            address = raster.pixels
            return DARKROOM_DONE
        }
        return address
    }

    @Test func onlyChangesCopyThePixelsOfSharedPictures() throws {
        let file = PNG.file(.gradient(width: 9, height: 5))
        try file.withBytes { bytes throws(ImagingError) in
            try Imaging.withDecoder(bytes, DevelopOptions(), isCancelled: { false }) { decoder throws(ImagingError) in
                let picture = try decoder.open()
                try decoder.decode(picture, inMemory: true)
                let copy = try picture.copy()
                #expect(throws: Never.self) {
                    let shared = try Self.address(picture.look)
                    #expect(try Self.address(copy.look) == shared)
                    #expect(try Self.address(copy.edit) != shared)
                    #expect(try Self.address(picture.look) == shared)
                }
            }
        }
    }

    @Test func copyThatDoesNotFitIntoMemoryIsRefused() {
        let byte = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        defer { byte.deallocate() }
        let huge = UnsafeRawBufferPointer(start: byte, count: 1 << 60)
        #expect(ImageFile(format: .png, width: 1, height: 1, copying: huge) == nil)
    }
}
