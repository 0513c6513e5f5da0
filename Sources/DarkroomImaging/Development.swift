internal import CImaging
import DarkroomRecipes

/// Makes the files of one photo. The photo is decoded once.
struct Development {
    /// Which code develops JPEG to JPEG with filters that change each pixel on its own.
    enum Route: CaseIterable {
        case usual
        /// For tests.
        case withoutStrips
    }

    let decoder: Decoder
    let options: DevelopOptions
    var route = Route.usual

    /// Returns a file for each output, in their order.
    func run() throws(ImagingError) -> [DevelopedImage] {
        let changing = options.outputs.filter { !keeps($0) }
        var made: [DevelopedImage]
        if changing.isEmpty {
            made = []
        } else if let output = changing.first, changing.count == 1, let image = try developByStrips(output) {
            made = [image]
        } else {
            made = try develop(changing)
        }
        let kept = changing.count < options.outputs.count ? try keep(isChecked: !made.isEmpty) : nil
        var images: [DevelopedImage] = []
        for output in options.outputs {
            if let kept, keeps(output) { images.append(kept) } else { images.append(made.removeFirst()) }
        }
        return images
    }

    // MARK: - Unchanged photos

    private func keeps(_ output: ImageOutput) -> Bool {
        output.keeps(decoder.format, byteCount: decoder.bytes.count)
    }

    /// The bytes of the photo, after a check that they are not damaged.
    private func keep(isChecked: Bool) throws(ImagingError) -> DevelopedImage {
        let facts = try decoder.open().facts
        if !isChecked, !options.acceptsDamage { try decoder.check() }
        let isTurned = facts.orientation > 4
        return DevelopedImage(
            format: decoder.format, width: Int(isTurned ? facts.height : facts.width),
            height: Int(isTurned ? facts.width : facts.height), copying: decoder.bytes)
    }

    // MARK: - Strips

    /// Returns nil if the photo or the output needs libvips.
    private func developByStrips(_ output: ImageOutput) throws(ImagingError) -> DevelopedImage? {
        guard route == .usual, decoder.format == .jpeg, output.suitsStrips else { return nil }
        return try decoder.developByStrips(output)
    }

    // MARK: - libvips

    private func develop(_ outputs: [ImageOutput]) throws(ImagingError) -> [DevelopedImage] {
        let photo = try decoder.open()
        let facts = photo.facts
        let isTurned = facts.orientation > 4
        let size = PixelSize(
            width: Int(isTurned ? facts.height : facts.width), height: Int(isTurned ? facts.width : facts.height))
        let isAnimated = facts.frames > 1
        let scaled = outputs.map { isAnimated ? size : $0.scaled(size) }
        let shrinks = scaled.map { ResizeRules.shrinkOnLoad(size, to: $0) }
        let shrink = shrinks.min() ?? 1
        // Only scaling and points read the rows from top to bottom, and once.
        let readsOnce = outputs.count == 1 && outputs[0].filters.allSatisfy { $0.point != nil || $0.readsOnce }
        try decoder.decode(photo, shrink: shrink, inMemory: isAnimated || !readsOnce)
        var pictures = ShrunkPictures(photo, shrink: decoder.canShrink ? shrink : 1)
        var images: [DevelopedImage] = []
        for (index, output) in outputs.enumerated() {
            let picture =
                outputs.count == 1
                ? photo : try pictures.picture(for: scaled[index], shrunkBy: shrinks[index]).copy()
            let application = ChainApplication(output.filters, overlays: options.overlays, originalSize: size)
            do throws(ImagingError) {
                let changed =
                    isAnimated
                    ? try animation(picture, application, output) : try application.applied(to: picture)
                images.append(try Encoder(settings: output.encoding, source: decoder.format).encode(changed))
            } catch {
                throw error.of(rendition: output.rendition)
            }
        }
        return images
    }

    /// Applies the filters to each frame. If the format of the output has no animations, only the first frame is used.
    private func animation(
        _ picture: Picture, _ application: ChainApplication, _ output: ImageOutput
    ) throws(ImagingError) -> Picture {
        let formats = output.encoding.candidates.isEmpty ? [decoder.format] : output.encoding.candidates
        let canMove = formats.allSatisfy { [.gif, .webp].contains($0) }
        var frames: [Picture] = []
        for frame in try picture.frames(atMost: canMove ? .max : 1) {
            frames.append(try application.applied(to: frame))
        }
        guard canMove else { return frames[0] }
        return try Picture.join(frames, like: picture)
    }
}

/// A decoded photo in the sizes from which outputs are made. Small outputs are made from means of blocks of pixels, as a
/// decoder would give them that shrinks.
private struct ShrunkPictures {
    private let photo: Picture
    /// The factor by which the decoder has shrunk the photo.
    private let shrink: Int
    private var pictures: [Int: Picture] = [:]

    init(_ photo: Picture, shrink: Int) {
        self.photo = photo
        self.shrink = shrink
    }

    /// - Parameters:
    ///   - scaled: The size to which the picture will be scaled.
    ///   - factor: The factor by which a decoder would shrink the photo for this.
    mutating func picture(for scaled: PixelSize, shrunkBy factor: Int) throws(ImagingError) -> Picture {
        // Means would have to be weighted by alpha.
        guard !photo.hasAlpha else { return photo }
        let factors = sequence(first: factor / shrink) { $0 / 2 }
        let factor = factors.first { ResizeRules.canShrink(photo.size, by: $0, to: scaled) } ?? 1
        if factor == 1 { return photo }
        if let picture = pictures[factor] { return picture }
        let picture = try photo.shrunk(by: factor)
        pictures[factor] = picture
        return picture
    }
}

extension ImageOutput {
    /// The size to which the first filter scales a photo, if the photo can be shrunk before; otherwise its size.
    func scaled(_ size: PixelSize) -> PixelSize {
        guard let first = filters.first, first.kind == .resize, !first.flag("linear"), first.kernel != DARKROOM_NEAREST
        else { return size }
        return first.plan(for: size).scaled
    }
}

extension Filter {
    /// Whether the filter reads the rows of a picture only once, from top to bottom.
    var readsOnce: Bool {
        kind == .resize && !["attention", "entropy"].contains(choice("gravity"))
    }
}
