internal import CImaging
import DarkroomRecipes

/// The pictures of the watermarks of one photo. Each picture is decoded once.
final class Watermarks {
    /// The largest number of pixels of the picture of a watermark.
    static let maxPixels = 4_000_000

    private let files: [Filter: [UInt8]]
    private var pictures: [Filter: Picture] = [:]

    /// - Parameter files: Maps each watermark filter to the bytes of its picture file.
    init(_ files: [Filter: [UInt8]]) { self.files = files }

    /// The watermark in sRGB, scaled to its size on the photo. For a photo that is not grey, a grey watermark becomes
    /// RGB.
    func mark(_ filter: Filter, for photo: Picture) throws(ImagingError) -> Picture {
        let mark = try picture(filter, in: photo.session).copy(for: photo.session)
        if !photo.isGrey { try mark.makeRGB() }
        try mark.setWide(photo.facts.wide)
        try mark.resize(
            to: Self.size(mark.size, on: photo.size, scale: filter.number("scale")), kernel: DARKROOM_LANCZOS3)
        try mark.keepInMemory()
        return mark
    }

    private func picture(_ filter: Filter, in session: PhotoSession) throws(ImagingError) -> Picture {
        if let picture = pictures[filter] { return picture }
        guard let file = files[filter] else {
            throw ImagingError(code: .filterFailed, detail: "\(filter): the picture of the watermark was not loaded")
        }
        do throws(ImagingError) {
            let picture = try Self.decode(file, in: session)
            pictures[filter] = picture
            return picture
        } catch {
            switch error.code {
            case .cancelled, .timedOut, .outOfMemory: throw error
            // The photo itself is not damaged.
            default: throw ImagingError(code: .filterFailed, detail: "\(filter): \(error)")
            }
        }
    }

    private static func decode(_ file: [UInt8], in session: PhotoSession) throws(ImagingError) -> Picture {
        try file.withBytes { bytes throws(ImagingError) in
            let format = try Imaging.format(of: bytes)
            let decoder = Decoder(
                bytes: bytes, format: format, session: session.other(format: format, maxPixels: maxPixels))
            return try decoder.mended { decoder throws(ImagingError) in
                let mark = try decoder.open()
                try decoder.decode(mark, inMemory: true)
                try mark.makeSRGB()
                try mark.keepInMemory()
                return mark
            }
        }
    }

    // MARK: - Size and places

    static func size(_ mark: PixelSize, on photo: PixelSize, scale: Double) -> PixelSize {
        let width = max(1, Int((Double(photo.width) * scale).rounded()))
        let height = max(1, Int((Double(mark.height) * Double(width) / Double(mark.width)).rounded()))
        // A narrow watermark on a wide photo could become many times as high as the photo.
        guard height > photo.height else { return PixelSize(width: width, height: height) }
        return PixelSize(width: max(1, width * photo.height / height), height: photo.height)
    }

    static func place(_ mark: PixelSize, in photo: PixelSize, _ position: String, margin: Int) -> (x: Int, y: Int) {
        let inside = PixelSize(
            width: max(photo.width - 2 * margin, mark.width), height: max(photo.height - 2 * margin, mark.height))
        let box = ResizeRules.place(mark, in: inside, gravity: position)
        return ((photo.width - inside.width) / 2 + box.x, (photo.height - inside.height) / 2 + box.y)
    }

    static func tiles(
        _ mark: PixelSize, over photo: PixelSize, margin: Int
    ) -> some Sequence<(x: Int, y: Int)> {
        let (across, down) = (mark.width + margin, mark.height + margin)
        return stride(from: margin, to: photo.height, by: down).lazy.flatMap { y in
            stride(from: margin, to: photo.width, by: across).lazy.map { (x: $0, y: y) }
        }
    }
}

extension Picture {
    /// Draws a watermark, which already has its final size, on this picture.
    func draw(_ mark: Picture, _ filter: Filter) throws(ImagingError) {
        if !mark.isGrey { try makeRGB() }
        let (margin, opacity) = (filter.whole("margin"), filter.number("opacity"))
        if filter.flag("tile") {
            try draw(mark, at: Watermarks.tiles(mark.size, over: size, margin: margin), opacity: opacity)
        } else {
            let place = Watermarks.place(mark.size, in: size, filter.choice("position"), margin: margin)
            try draw(mark, at: CollectionOfOne(place), opacity: opacity)
        }
    }
}
