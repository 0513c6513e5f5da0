internal import CImaging
import DarkroomRecipes

/// Encodes a filtered picture.
struct Encoder {
    let settings: PhotoEncoding
    /// The format of the photo.
    let source: ImageFormat

    /// - Parameter picture: The picture, which is changed.
    func encode(_ picture: Picture) throws(ImagingError) -> ImageFile {
        if settings.srgb == true { try picture.makeSRGB() }
        try picture.keepMetadata(settings.metadataKinds)
        let formats = formats(for: picture)
        if formats.count > 1 || settings.maxBytes != nil { try picture.keepInMemory() }
        var smallest: ImageFile?
        var problem: ImagingError?
        for format in formats {
            do throws(ImagingError) {
                let image = try encode(picture, as: format)
                if image.byteCount < smallest?.byteCount ?? .max { smallest = image }
            } catch {
                guard error.code == .filterFailed else { throw error }
                problem = problem ?? error
            }
        }
        if let smallest { return smallest }
        throw problem ?? ImagingError(code: .filterFailed, detail: "no format is left to write")
    }

    /// The formats to try, at least one.
    private func formats(for picture: Picture) -> [ImageFormat] {
        let candidates = settings.candidates
        guard !candidates.isEmpty else {
            return [Imaging.canSave(source) ? source : picture.hasAlpha ? .png : .jpeg]
        }
        // JPEG would lose the transparency, so it stays a candidate only if there is no other.
        let opaque = picture.hasAlpha ? candidates.filter { $0 != .jpeg } : candidates
        let fitting = (opaque.isEmpty ? candidates : opaque).filter { format in
            max(picture.size.width, picture.size.height) <= darkroom_longest_side(format.c)
        }
        return fitting.isEmpty ? [candidates[0]] : fitting
    }

    private func encode(_ picture: Picture, as format: ImageFormat) throws(ImagingError) -> ImageFile {
        let quality = settings.quality ?? ImageOutput.standardQuality
        let image = try picture.encode(settings.c(format, quality: quality))
        guard let limit = settings.maxBytes, image.byteCount > limit else { return image }
        guard settings.hasQuality(format) else { throw tooLarge(image, nil, limit) }
        var search = QualitySearch(limit: limit, tooHigh: quality, size: image.byteCount)
        var (best, smallest): (ImageFile?, ImageFile) = (nil, image)
        while let quality = search.next {
            let next = try picture.encode(settings.c(format, quality: quality))
            search.note(next.byteCount, at: quality)
            if next.byteCount <= limit { best = next } else { smallest = next }
        }
        guard let best else { throw tooLarge(smallest, search.tooHigh, limit) }
        return best
    }

    private func tooLarge(_ image: ImageFile, _ quality: Int?, _ limit: Int) -> ImagingError {
        let reason =
            quality.map { "with quality \($0)" }
            ?? "and \(image.format.rawValue)\(settings.lossless == true ? " without loss" : "") has no quality to lower"
        return ImagingError(
            code: .filterFailed,
            detail: "the \(image.format.rawValue) file has \(image.byteCount) bytes \(reason), more than max-bytes="
                + "\(limit) allows")
    }
}
