/// The filters whose result depends on the neighbourhood or the position of a pixel.
extension FilterDefinition {
    static let blur = FilterDefinition(
        .blur, .texture, "Blurs the photo with a Gaussian.", example: "blur=5px",
        [
            .init(
                "sigma", .number(0.3...250, .pixels), .standard(.number(3)), positional: true,
                "The standard deviation of the Gaussian.")
        ])

    static let sharpen = FilterDefinition(
        .sharpen, .texture, "Sharpens the photo by an unsharp mask.", example: "sharpen=1.5,0.8",
        [
            .init(
                "sigma", .number(0.3...10, .pixels), .standard(.number(1)), positional: true,
                "The standard deviation of the Gaussian."),
            .init("amount", .number(0...10, .share), .standard(.number(1)), positional: true, "The strength."),
            .init(
                "threshold", .number(0...255), .standard(.number(0)), positional: true,
                "Differences up to this value stay unchanged."),
        ])

    static let median = FilterDefinition(
        .median, .texture, "Replaces each pixel by the median of a square around it.", example: "median=5",
        [
            .init(
                "size", .number(3...15, .pixels, .odd), .standard(.number(3)), positional: true,
                "The side of the square.")
        ])

    static let pixelate = FilterDefinition(
        .pixelate, .texture, "Fills squares with their mean colour.", example: "pixelate=20px",
        [
            .init(
                "size", .number(2...1000, .pixels, .whole), .standard(.number(10)), positional: true,
                "The side of a square.")
        ])

    static let vignette = FilterDefinition(
        .vignette, .texture, "Shades the corners.", example: "vignette=60%",
        [
            .init(
                "amount", .number(0...1, .share), .standard(.number(0.5)), positional: true,
                "The strength in the corners."),
            .init(
                "radius", .number(0...1, .share), .standard(.number(0.5)), positional: true,
                "The distance from the centre at which the shade begins, as a share of half the diagonal."),
            .init("colour", .colour(isOpaque: true), .standard(.colour(.black)), "The colour of the shade."),
        ])

    static let tiltShift = FilterDefinition(
        .tiltShift, .texture, "Blurs the photo except along a line, as in a photo of a miniature.",
        example: "tilt-shift=radius:6,position:60%,angle:10",
        [
            .init(
                "radius", .number(0.1...100, .pixels), .standard(.number(3)),
                "The standard deviation of the strongest blur."),
            .init(
                "position", .number(0...1, .share), .standard(.number(0.5)),
                "The distance of the sharp line from the top, as a share of the height."),
            .init("angle", .number(-90...90, .degrees), .standard(.number(0)), "The angle of the sharp line."),
            .init(
                "width", .number(0...1, .share), .standard(.number(0)),
                "The width of the sharp area, as a share of the height."),
            .init(
                "fade", .number(0.01...1, .share), .standard(.number(0.25)),
                "The distance over which the blur grows, as a share of the height."),
        ])

    static let watermark = FilterDefinition(
        .watermark, .texture, "Puts an image or a text on the photo.",
        example: "watermark=text:\"© 2026\",opacity:60%",
        [
            .init("image", .text(maxScalars: 4096), .optional, "The path of an image file on the workers."),
            .init("text", .text(maxScalars: 500), .optional, "The text, in place of an image."),
            .init("position", .choice(places), .standard(.choice("southeast")), "The place on the photo."),
            .init("opacity", .number(0...1, .share), .standard(.number(1)), "0 is invisible, 1 is opaque."),
            .init(
                "scale", .number(0.01...1, .share), .standard(.number(0.25)),
                "The width of the watermark, as a share of the width of the photo."),
            .init(
                "margin", .number(0...1000, .pixels, .whole), .standard(.number(10)),
                "The distance from the edges of the photo."),
            .init("tile", .flag, .standard(.flag(false)), "Whether to repeat the watermark over the whole photo."),
            .init("colour", .colour(isOpaque: true), .standard(.colour(.white)), "The colour of the text."),
            .init("font", .text(maxScalars: 200), .optional, "The font of the text, such as \"DejaVu Sans Bold\"."),
        ],
        rule: { given in
            if let violation = given.exclusive("image", "text") { return violation }
            guard given.has("image") || given.has("text") else {
                return RuleViolation(
                    nil, "an image or a text is missing; write watermark=image:PATH or watermark=text:TEXT")
            }
            let textOnly = given.has("image") ? ["colour", "font"].first(where: given.has) : nil
            return textOnly.map { RuleViolation($0, "\($0) belongs to a text, and the watermark is an image") }
        })
}
