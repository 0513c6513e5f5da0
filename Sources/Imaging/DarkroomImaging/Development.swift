internal import CImaging
import DarkroomRecipes

/// Makes the files of one photo. The photo is decoded once.
struct Development {
    /// The code for JPEG to JPEG with filters that change each pixel on its own.
    enum Route: CaseIterable {
        case usual
        /// For tests.
        case withoutStrips
    }

    let decoder: Decoder
    /// The bytes of the photo. An output that changes nothing keeps these bytes.
    let photo: UnsafeRawBufferPointer
    let options: DevelopOptions
    var route = Route.usual

    /// Returns a file for each output, in the order of the outputs.
    func run() throws(ImagingError) -> [ImageFile] {
        let changing = options.outputs.filter { !keeps($0) }
        var made: [ImageFile]
        if changing.isEmpty {
            made = []
        } else if let images = try developByStrips(changing) {
            made = images
        } else {
            made = try develop(changing)
        }
        if !made.isEmpty, decoder.hasGainMap { for index in made.indices { made[index].lostGainMap = true } }
        let kept = changing.count < options.outputs.count ? try keep(isChecked: !made.isEmpty) : nil
        var images: [ImageFile] = []
        for output in options.outputs {
            if let kept, keeps(output) { images.append(kept) } else { images.append(made.removeFirst()) }
        }
        // The last pixels are decoded while the file is encoded, so the defects are known only here.
        let note = decoder.session.note
        for index in images.indices { images[index].note = note }
        return images
    }

    // MARK: - Unchanged photos

    private func keeps(_ output: ImageOutput) -> Bool {
        output.keeps(decoder.format, byteCount: photo.count)
    }

    /// The bytes of the photo, after a check that they are not damaged.
    private func keep(isChecked: Bool) throws(ImagingError) -> ImageFile {
        let facts = try decoder.open().facts
        if !isChecked, options.damage != .accept { try decoder.check() }
        let isTurned = facts.orientation > 4
        let image = ImageFile(
            format: decoder.format, width: Int(isTurned ? facts.height : facts.width),
            height: Int(isTurned ? facts.width : facts.height), copying: photo)
        guard let image else { throw decoder.session.outOfMemory }
        return image
    }

    // MARK: - Strips

    /// Returns nil if the photo or an output needs libvips.
    private func developByStrips(_ outputs: [ImageOutput]) throws(ImagingError) -> [ImageFile]? {
        guard route == .usual, decoder.format == .jpeg, outputs.allSatisfy(\.suitsStrips) else { return nil }
        do throws(ImagingError) {
            return try decoder.developByStrips(outputs)
        } catch {
            // All outputs are made in one pass, so a failure belongs to a rendition only if there is one output. Strips
            // are never larger than the photo, so too many pixels are a fault of the photo.
            guard outputs.count == 1, error.code != .tooManyPixels else { throw error }
            throw error.of(rendition: outputs[0].rendition)
        }
    }

    // MARK: - libvips

    private func develop(_ outputs: [ImageOutput]) throws(ImagingError) -> [ImageFile] {
        var decoder = decoder
        decoder.refusesHDR = outputs.contains { $0.encoding.hdr == .fail }
        let photo = try decoder.open()
        let facts = photo.facts
        let isTurned = facts.orientation > 4
        let size = PixelSize(
            width: Int(isTurned ? facts.height : facts.width), height: Int(isTurned ? facts.width : facts.height))
        let isAnimated = facts.frames > 1
        let canShrink = decoder.canShrink && !isAnimated
        let shrink = canShrink ? outputs.map { $0.shrinkOnLoad(size) }.min() ?? 1 : 1
        // Only scaling and points read each row once, from top to bottom.
        let readsOnce = outputs.count == 1 && outputs[0].filters.allSatisfy { $0.point != nil || $0.readsOnce }
        try decoder.decode(photo, shrink: shrink, inMemory: isAnimated || !readsOnce)
        let watermarks = Watermarks(options.overlays)
        var images: [ImageFile] = []
        for output in outputs {
            let picture = outputs.count == 1 ? photo : try photo.copy()
            let application = ChainApplication(output.filters, watermarks, originalSize: size)
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
        decoder.session.frames = output.canMove(from: decoder.format) ? Int(picture.facts.frames) : 1
        let first = try application.applied(to: picture.frame(0))
        guard decoder.session.frames > 1 else { return first }
        let animation = try picture.animation(of: first)
        try animation.setFrame(0, to: first)
        for index in 1..<decoder.session.frames {
            try decoder.session.checkCancellation()
            try animation.setFrame(index, to: application.applied(to: picture.frame(index)))
        }
        return animation
    }
}

extension ImageOutput {
    /// The factor by which the decoder can shrink a photo of this size, because the first filter makes the photo
    /// smaller.
    func shrinkOnLoad(_ size: PixelSize) -> Int {
        guard let first = filters.first, first.kind == .resize, first.canShrinkOnLoad else { return 1 }
        return ResizeRules.shrinkOnLoad(size, to: first.plan(for: size).scaled)
    }
}

extension Filter {
    /// Whether `resize` may scale a photo that the decoder has shrunk.
    var canShrinkOnLoad: Bool { !flag("linear") && kernel != DARKROOM_NEAREST }

    /// Whether the filter reads all rows of a picture once, from top to bottom. If rows are cut off, the result is
    /// false: damage in rows that are not read would not be noticed.
    var readsOnce: Bool {
        guard kind == .resize else { return false }
        let size = size("size")
        return choice("fit") != "cover" || size.width == nil || size.height == nil
    }
}
