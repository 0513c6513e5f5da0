internal import CImaging
import DarkroomRecipes

/// Makes one picture with the original photo on the left and the developed photo on the right.
extension Imaging {
    /// The largest width and height of a comparison, in pixels.
    private static let longestSide = 16_000

    /// Returns a picture with the upright photo on the left and the developed photo on the right.
    ///
    /// Both photos are scaled to the same height and are in sRGB. If libvips can write the format of the developed
    /// photo, the picture has this format. The picture has no metadata. The sizes of the two photos are not limited.
    package static func compare(
        _ photo: [UInt8], with developed: UnsafeRawBufferPointer, damage: DamageLevel
    ) throws(ImagingError) -> ImageFile {
        try photo.withBytes { photo throws(ImagingError) in
            try join(decode(photo, damage: damage), decode(developed, damage: .fail))
        }
    }

    /// Decodes the first frame.
    private static func decode(
        _ bytes: UnsafeRawBufferPointer, damage: DamageLevel
    ) throws(ImagingError) -> (picture: Picture, format: ImageFormat) {
        let format = try format(of: bytes)
        let session = PhotoSession.unlimited(format: format)
        let decoder = Decoder(bytes: bytes, format: format, session: session, damage: damage)
        return try decoder.mended { decoder throws(ImagingError) in
            let picture = try decoder.open()
            try decoder.decode(picture, inMemory: true)
            try picture.makeSRGB()
            try picture.setWide(false)
            try picture.keepInMemory()
            return (picture, format)
        }
    }

    private static func join(
        _ before: (picture: Picture, format: ImageFormat), _ after: (picture: Picture, format: ImageFormat)
    ) throws(ImagingError) -> ImageFile {
        let (left, right) = (before.picture, after.picture)
        let longest = min(longestSide, Int(darkroom_longest_side(after.format.c)))
        let layout = ComparisonLayout(left.size, right.size, longestSide: longest)
        try left.resize(to: layout.left, kernel: DARKROOM_LANCZOS3)
        try right.resize(to: layout.right, kernel: DARKROOM_LANCZOS3)
        if !left.isGrey || !right.isGrey {
            try left.makeRGB()
            try right.makeRGB()
        }
        let box = Box(x: 0, y: 0, width: layout.width, height: layout.left.height)
        try left.embed(in: box, background: .white)
        try left.keepInMemory()
        try left.draw(right, x: layout.left.width + layout.gap, y: 0)
        var settings = PhotoEncoding()
        settings.metadata = MetadataSelection.none
        return try Encoder(settings: settings, source: after.format).encode(left)
    }
}

/// The sizes of the two pictures of a comparison, and of the gap between them.
struct ComparisonLayout: Equatable {
    let left: PixelSize
    let right: PixelSize
    let gap: Int
    var width: Int { left.width + gap + right.width }

    /// Reduces the larger picture to the height of the smaller one, and reduces both further if the result would be too
    /// large.
    init(_ before: PixelSize, _ after: PixelSize, longestSide: Int) {
        let height = min(before.height, after.height, longestSide)
        gap = max(2, min(16, height / 100))
        func width(_ size: PixelSize, _ height: Double) -> Double { Double(size.width) * height / Double(size.height) }
        let both = width(before, Double(height)) + width(after, Double(height))
        let fitting = Double(height) * min(1, Double(longestSide - gap - 2) / both)
        func scaled(_ size: PixelSize) -> PixelSize {
            PixelSize(
                width: max(1, Int(width(size, fitting).rounded())), height: max(1, Int(fitting.rounded())))
        }
        left = scaled(before)
        right = scaled(after)
    }
}
