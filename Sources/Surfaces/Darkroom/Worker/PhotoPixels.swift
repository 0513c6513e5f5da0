internal import DarkroomImaging

/// The pixels of a photo, for custom filters that change pixels, see `DownloadedPhoto.pixels()`.
public struct PhotoPixels: Sendable, Equatable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The number of samples of a pixel: 1 for grey, 2 for grey and alpha, 3 for red, green and blue, 4 for these and
    /// alpha. The colours are those of sRGB.
    public let channels: Int
    /// The largest sample: 255 or 65,535.
    public let white: UInt16
    /// The samples of all pixels from the top left, row by row: `width` times `height` times `channels`.
    public var samples: [UInt16]

    /// Creates pixels. The number of samples must be `width` times `height` times `channels`.
    public init(width: Int, height: Int, channels: Int, white: UInt16 = 255, samples: [UInt16]) {
        precondition((1...4).contains(channels) && (white == 255 || white == .max), "invalid kind of pixels")
        precondition(width > 0 && height > 0 && samples.count == width * height * channels, "wrong number of samples")
        self.width = width
        self.height = height
        self.channels = channels
        self.white = white
        self.samples = samples
    }

    /// The pixels as a PNG file, lossless and with little compression. A ``CustomFilter`` can return such a file if
    /// other filters follow it, or if its batch sets a format. Blocks. May be called on any thread.
    /// - Throws: an error if there is not enough memory.
    public func png() throws -> [UInt8] {
        try Imaging.png(
            of: PixelBuffer(width: width, height: height, bands: channels, isWide: white == .max, samples: samples))
    }
}

extension DownloadedPhoto {
    /// Decodes the photo, rotated to upright, in grey or RGB. If the photo has a colour profile, such as Display P3, the
    /// colours are converted to sRGB, and the profile is not kept. Blocks until the pixels are decoded or ``isCancelled`` is
    /// true. May be called on any thread.
    /// - Throws: an error if the bytes are not a picture, are damaged or have more pixels than
    ///   ``PhotoWorkerConfiguration/maxPixels`` (100 million for a photo that a program has created). If the filter
    ///   rethrows the error, the photo fails with the reason ``FailureReason/filterFailed``.
    public func pixels() throws -> PhotoPixels {
        let buffer = try Imaging.pixels(of: bytes, maxPixels: maxPixels, isCancelled: { isCancelled })
        return PhotoPixels(
            width: buffer.width, height: buffer.height, channels: buffer.bands, white: buffer.isWide ? .max : 255,
            samples: buffer.samples)
    }
}
