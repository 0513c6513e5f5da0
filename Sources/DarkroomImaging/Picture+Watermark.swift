internal import CImaging
import DarkroomRecipes

extension Picture {
    /// Draws a watermark.
    /// - Parameter file: The picture of the watermark, as a file.
    func watermark(_ filter: Filter, _ file: [UInt8]?) throws(ImagingError) {
        guard let file else {
            throw ImagingError(code: .filterFailed, detail: "\(filter): the picture of the watermark was not loaded")
        }
        let mark = try Watermark.decode(file, in: session)
        if !mark.isGrey { try makeRGB() }
        try keepInMemory()
        if !isGrey { try mark.makeRGB() }
        try mark.setWide(facts.wide)
        let width = max(1, Int((Double(size.width) * filter.number("scale")).rounded()))
        let height = max(1, Int((Double(mark.size.height) * Double(width) / Double(mark.size.width)).rounded()))
        // A narrow mark on a wide photo could be as high as many photos.
        let share = min(1, Double(size.height) / Double(height))
        let markSize = PixelSize(
            width: max(1, Int(Double(width) * share)), height: max(1, Int(Double(height) * share)))
        try mark.resize(to: markSize, kernel: DARKROOM_LANCZOS3)
        let margin = filter.whole("margin")
        let places =
            filter.flag("tile")
            ? Watermark.tiles(markSize, over: size, margin: margin)
            : [Watermark.place(markSize, in: size, filter.choice("position"), margin: margin)]
        try draw(mark, at: places, opacity: filter.number("opacity"))
    }
}

enum Watermark {
    /// The largest number of pixels of the picture of a watermark.
    static let maxPixels = 4_000_000

    /// Decodes the picture of a watermark.
    static func decode(_ file: [UInt8], in session: PhotoSession) throws(ImagingError) -> Picture {
        try file.withBytes { bytes throws(ImagingError) in
            let format = try Imaging.format(of: bytes)
            let decoder = Decoder(
                bytes: bytes, format: format, session: session.other(format: format, maxPixels: maxPixels))
            let mark = try decoder.open()
            try decoder.decode(mark, inMemory: true)
            return mark
        }
    }

    static func place(_ mark: PixelSize, in photo: PixelSize, _ position: String, margin: Int) -> (x: Int, y: Int) {
        let inside = PixelSize(
            width: max(photo.width - 2 * margin, mark.width), height: max(photo.height - 2 * margin, mark.height))
        let box = ResizeRules.place(mark, in: inside, gravity: position)
        return ((photo.width - inside.width) / 2 + box.x, (photo.height - inside.height) / 2 + box.y)
    }

    static func tiles(_ mark: PixelSize, over photo: PixelSize, margin: Int) -> [(x: Int, y: Int)] {
        let (across, down) = (mark.width + margin, mark.height + margin)
        return stride(from: margin, to: photo.height, by: down).flatMap { y in
            stride(from: margin, to: photo.width, by: across).map { (x: $0, y: y) }
        }
    }
}
