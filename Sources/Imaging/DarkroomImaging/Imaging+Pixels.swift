internal import CImaging
import DarkroomRecipes

/// Pixels in memory, from the top left, row by row.
package struct PixelBuffer: Sendable, Equatable {
    package let width: Int
    package let height: Int
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
    package let bands: Int
    /// Whether samples range to 65,535; otherwise they range to 255.
    package let isWide: Bool
    /// `width` times `height` times `bands` samples.
    package var samples: [UInt16]

    package init(width: Int, height: Int, bands: Int, isWide: Bool, samples: [UInt16]) {
        self.width = width
        self.height = height
        self.bands = bands
        self.isWide = isWide
        self.samples = samples
    }
}

/// Pixels for operations that are written in Swift.
extension Imaging {
    /// Decodes a picture, rotates it to upright, and converts the colours to sRGB. Blocks.
    package static func pixels(
        of bytes: [UInt8], maxPixels: Int = 100_000_000, isCancelled: @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> PixelBuffer {
        let options = DevelopOptions(outputs: [], maxPixels: maxPixels)
        return try bytes.withBytes { bytes throws(ImagingError) in
            try withDecoder(bytes, options, isCancelled: isCancelled) { decoder throws(ImagingError) in
                let picture = try decoder.open()
                try decoder.decode(picture, inMemory: true)
                try picture.makeSRGB()
                var buffer: PixelBuffer?
                try picture.look { raster, _ in
                    buffer = PixelBuffer(raster)
                    return DARKROOM_DONE
                }
                return buffer!  // set by `look`
            }
        }
    }

    /// Encodes pixels as PNG, without loss and with little compression. Blocks.
    package static func png(of buffer: PixelBuffer) throws(ImagingError) -> [UInt8] {
        precondition(buffer.samples.count == buffer.width * buffer.height * buffer.bands, "wrong number of samples")
        try start()
        let session = PhotoSession.unlimited(format: .png)
        var created: OpaquePointer?
        try session.check(
            buffer.withRaster { raster in
                withUnsafePointer(to: raster) { darkroom_create(session.c, $0, &created) }
            })
        let picture = Picture(created!, session)  // set by a successful call
        var settings = PhotoEncoding()
        settings.format = .fixed(.png)
        settings.effort = 0
        return try Encoder(settings: settings, source: .png).encode(picture).withUnsafeBytes { Array($0) }
    }
}

extension PixelBuffer {
    init(_ raster: darkroom_raster) {
        self.init(
            width: Int(raster.width), height: Int(raster.height), bands: Int(raster.bands), isWide: raster.wide,
            samples: [])
        let count = width * height * bands
        samples =
            isWide
            ? Array(UnsafeBufferPointer(start: raster.pixels.assumingMemoryBound(to: UInt16.self), count: count))
            : UnsafeBufferPointer(start: raster.pixels.assumingMemoryBound(to: UInt8.self), count: count)
                .map { UInt16($0) }
    }

    /// Calls `body` with the pixels in the form for C. If samples have 8 bits, values above 255 become 255.
    func withRaster<Result>(_ body: (darkroom_raster) -> Result) -> Result {
        func call(_ bytes: UnsafeRawBufferPointer) -> Result {
            body(
                darkroom_raster(
                    pixels: UnsafeMutableRawPointer(mutating: bytes.baseAddress), width: Int32(width),
                    height: Int32(height), bands: Int32(bands), wide: isWide))
        }
        return isWide
            ? samples.withUnsafeBytes(call) : samples.map { UInt8(min($0, 255)) }.withUnsafeBytes(call)
    }
}
