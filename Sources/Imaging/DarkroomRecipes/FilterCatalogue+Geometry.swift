/// The filters that change size, shape or orientation. Their terms are those of
/// [sharp](https://sharp.pixelplumbing.com/api-resize).
extension FilterDefinition {
    static let resize = FilterDefinition(
        .resize, .geometry, "Scales the photo to a size.", example: "resize=800x600,inside,enlarge:no",
        [
            .init(
                "size", .size, .required, positional: true,
                "The new size; if one side is open, the photo keeps its ratio, or with fit:fill that side."),
            .init(
                "fit", .choice(["cover", "contain", "fill", "inside", "outside"]), .standard(.choice("cover")),
                positional: true,
                """
                cover crops the photo; contain adds a background; fill distorts; inside makes the photo at most this \
                size; outside makes it at least this size.
                """),
            .gravity("The part that cover keeps, and the place of the photo within the background of contain."),
            .focus,
            .background(.standard(.colour(.black)), "The background that contain adds."),
            .init("enlarge", .flag, .standard(.flag(true)), "Whether small photos are enlarged."),
            .init(
                "kernel", .choice(["nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3"]),
                .standard(.choice("lanczos3")), "The interpolation."),
            .init("linear", .flag, .standard(.flag(false)), "Whether to scale in linear light."),
        ],
        rule: { $0.exclusive("gravity", "focus") })

    static let crop = FilterDefinition(
        .crop, .geometry, "Cuts out a part of the photo.", example: "crop=16:9,gravity:attention",
        [
            .init(
                "area", .area, .required, positional: true,
                "A size, a ratio for the largest part, or a box WIDTHxHEIGHT+X+Y from the top left."),
            .gravity("The place of the part in the photo."),
            .focus,
        ],
        rule: { given in
            if case .area(.box) = given.values["area"], let place = ["gravity", "focus"].first(where: given.has) {
                return RuleViolation(place, "the box has its own place; leave \(place) out")
            }
            return given.exclusive("gravity", "focus")
        })

    static let trim = FilterDefinition(
        .trim, .geometry, "Removes edges of one colour.", example: "trim=20",
        [
            .init(
                "threshold", .number(0...255), .standard(.number(10)), positional: true,
                "The difference from the background up to which a pixel belongs to the edge."),
            .background(.optional, "The colour of the edges; by default the colour of the top left pixel."),
        ])

    static let extend = FilterDefinition(
        .extend, .geometry, "Adds edges around the photo.", example: "extend=20,background:white",
        [
            .init(
                "all", .edge, .optional, positional: true, "The width of each edge for which no other width is given."),
            .init("top", .edge, .optional, "The height of the top edge."),
            .init("right", .edge, .optional, "The width of the right edge."),
            .init("bottom", .edge, .optional, "The height of the bottom edge."),
            .init("left", .edge, .optional, "The width of the left edge."),
            .init("ratio", .ratio, .optional, "The ratio to reach, in place of the widths of the edges."),
            .init(
                "background", .colour(or: ["blur"]), .standard(.colour(.black)),
                "The colour of the edges, or the photo itself, enlarged and blurred."),
        ],
        rule: { given in
            let edges = ["all", "top", "right", "bottom", "left"].filter(given.has)
            if let edge = edges.last, given.has("ratio") {
                return RuleViolation("ratio", "ratio excludes \(edge); leave one of them out")
            }
            return edges.isEmpty && !given.has("ratio")
                ? RuleViolation(
                    nil, "an edge or a ratio is missing; write it like extend=20 or extend=ratio:1:1")
                : nil
        })

    static let rotate = FilterDefinition(
        .rotate, .geometry, "Rotates the photo clockwise.", example: "rotate=90deg",
        [
            .init("angle", .number(-360...360, .degrees), .required, positional: true, "The angle."),
            .background(.standard(.colour(.black)), "The colour of the corners."),
        ])

    static let flip = FilterDefinition(.flip, .geometry, "Mirrors the photo top to bottom.", example: "flip")
    static let flop = FilterDefinition(.flop, .geometry, "Mirrors the photo left to right.", example: "flop")

    /// The nine places in a photo.
    static let places = [
        "centre", "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest",
    ]
}

extension ValueKind {
    fileprivate static let edge = ValueKind.number(0...65_535, .pixels, .whole)
}

extension FilterParameter {
    fileprivate static func gravity(_ summary: String) -> FilterParameter {
        FilterParameter(
            "gravity", .choice(FilterDefinition.places + ["attention", "entropy"]), .standard(.choice("centre")),
            summary + " attention and entropy choose the most interesting part.")
    }

    fileprivate static let focus = FilterParameter(
        "focus", .point, .optional, "The point to keep near the centre, in place of gravity.")

    fileprivate static func background(_ need: Need, _ summary: String) -> FilterParameter {
        FilterParameter("background", .colour(), need, summary)
    }
}
