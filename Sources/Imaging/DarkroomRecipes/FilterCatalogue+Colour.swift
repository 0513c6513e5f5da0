/// The colour filters. Those of CSS are defined by [Filter Effects](https://www.w3.org/TR/filter-effects-1/).
extension FilterDefinition {
    static let sepia = FilterDefinition(
        .sepia, .colour, "Tones the photo brown, as the CSS filter sepia().", example: "sepia=80%",
        [.amount(0...1, .standard(.number(0.8)), "0 leaves the photo unchanged, 1 is fully sepia.")])

    static let grayscale = FilterDefinition(
        .grayscale, .colour, "Removes the colours, as the CSS filter grayscale().", example: "grayscale",
        [.amount(0...1, .standard(.number(1)), "0 leaves the photo unchanged, 1 is fully grey.")])

    static let saturate = FilterDefinition(
        .saturate, .colour, "Changes the intensity of the colours, as the CSS filter saturate().",
        example: "saturate=150%",
        [.amount(0...100, .required, "0 is grey, 1 leaves the photo unchanged.")])

    static let hueRotate = FilterDefinition(
        .hueRotate, .colour, "Rotates the hue of all colours, as the CSS filter hue-rotate().",
        example: "hue-rotate=90deg",
        [.init("angle", .number(-3600...3600, .degrees), .required, positional: true, "The angle on the colour wheel.")]
    )

    static let invert = FilterDefinition(
        .invert, .colour, "Inverts the colours, as the CSS filter invert().", example: "invert",
        [.amount(0...1, .standard(.number(1)), "0 leaves the photo unchanged, 1 is fully inverted.")])

    static let brightness = FilterDefinition(
        .brightness, .colour, "Multiplies the colours by a factor, as the CSS filter brightness().",
        example: "brightness=110%",
        [.amount(0...100, .required, "0 is black, 1 leaves the photo unchanged.")])

    static let contrast = FilterDefinition(
        .contrast, .colour, "Changes the contrast, as the CSS filter contrast().", example: "contrast=1.2",
        [.amount(0...100, .required, "0 is grey, 1 leaves the photo unchanged.")])

    static let gamma = FilterDefinition(
        .gamma, .colour, "Raises the colours to the power of 1/gamma.", example: "gamma=1.2",
        [
            .init(
                "gamma", .number(0.1...10), .required, positional: true,
                "Values above 1 brighten, values below 1 darken.")
        ])

    static let tint = FilterDefinition(
        .tint, .colour, "Replaces each colour by its luminance times the tint.", example: "tint=orange,50%",
        [
            .init("colour", .colour(isOpaque: true), .required, positional: true, "The colour that white becomes."),
            .amount(0...1, .standard(.number(1)), "0 leaves the photo unchanged, 1 is fully tinted."),
        ])

    static let duotone = FilterDefinition(
        .duotone, .colour, "Replaces each colour by a mix of two colours, according to its luminance.",
        example: "duotone=navy,#ffe0a0",
        [
            .init("dark", .colour(isOpaque: true), .required, positional: true, "The colour that black becomes."),
            .init("light", .colour(isOpaque: true), .required, positional: true, "The colour that white becomes."),
        ])

    static let normalize = FilterDefinition(
        .normalize, .colour, "Stretches the luminance to the full range from black to white.",
        example: "normalize=2,98",
        [
            .init(
                "lower", .number(0...50, .percent), .standard(.number(1)), positional: true,
                "The percentile of the luminance that becomes black."),
            .init(
                "upper", .number(50...100, .percent), .standard(.number(99)), positional: true,
                "The percentile of the luminance that becomes white."),
        ],
        rule: { given in
            given.values["lower"] == .number(50) && given.values["upper"] == .number(50)
                ? RuleViolation("upper", "upper must be greater than lower") : nil
        })

    static let matrix = FilterDefinition(
        .matrix, .colour, "Multiplies red, green and blue by a matrix.", example: "matrix=0,0,1,0,1,0,1,0,0",
        [
            .init(
                "values", .numbers(counts: [9, 12], -100...100), .required, positional: true,
                "The rows for red, green and blue; the fourth number of a row is added, 1 for white.")
        ])
}

extension FilterParameter {
    fileprivate static func amount(
        _ range: ClosedRange<Double>, _ need: Need, _ summary: String
    ) -> FilterParameter {
        FilterParameter("amount", .number(range, .share), need, positional: true, summary)
    }
}
