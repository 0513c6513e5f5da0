import DarkroomRecipes

/// The sizes that result from `resize` and `crop`, by the rules of the library sharp
/// ([resize](https://sharp.pixelplumbing.com/api-resize)).
enum ResizeRules {
    /// How a picture is resized.
    struct Plan: Equatable {
        /// The size of the scaled picture.
        var scaled: PixelSize
        /// The size of the part that remains of the scaled picture; nil if all of it remains.
        var cut: PixelSize?
        /// The size of the picture in which the scaled picture is placed; nil if there is no such picture.
        var canvas: PixelSize?
        /// The side that determines the scale of both sides; nil if each side has its own scale.
        var side: Side?

        enum Side { case width, height }

        /// The scale for a picture that a decoder may have shrunk. With the same scale for both sides, the length of one
        /// side may be a fraction of a pixel more or less than `scaled`.
        func scale(of size: PixelSize) -> (across: Double, down: Double) {
            let across = Double(scaled.width) / Double(size.width)
            let down = Double(scaled.height) / Double(size.height)
            guard let side else { return (across, down) }
            let scale = side == .width ? across : down
            let width = Int((Double(size.width) * scale).rounded())
            let height = Int((Double(size.height) * scale).rounded())
            return width == scaled.width && height == scaled.height ? (scale, scale) : (across, down)
        }
    }

    /// A factor by which a side is scaled, as a fraction of whole numbers. Therefore halves are exact, and are rounded
    /// up.
    private struct Scale: Comparable {
        let from: Int
        let to: Int

        static let one = Scale(from: 1, to: 1)

        static func < (left: Scale, right: Scale) -> Bool { left.to * right.from < right.to * left.from }
        static func == (left: Scale, right: Scale) -> Bool { left.to * right.from == right.to * left.from }

        /// The scaled length of a side, at least 1.
        func length(_ side: Int) -> Int { max(1, (2 * side * to + from) / (2 * from)) }
    }

    /// - Parameters:
    ///   - target: The wanted size. If a side is nil, it follows from the other side.
    ///   - fit: `cover`, `contain`, `fill`, `inside` or `outside`.
    ///   - enlarges: Whether the picture may be scaled to more pixels.
    static func plan(_ size: PixelSize, to target: (width: Int?, height: Int?), fit: String, enlarges: Bool) -> Plan {
        var across = target.width.map { Scale(from: size.width, to: $0) }
        var down = target.height.map { Scale(from: size.height, to: $0) }
        var side: Plan.Side? = fit == "fill" ? nil : across != nil ? .width : .height
        if let x = across, let y = down, fit != "fill" {
            let isOverlapping = fit == "cover" || fit == "outside"
            side = (x < y) == isOverlapping ? .height : .width
            let scale = side == .width ? x : y
            (across, down) = (scale, scale)
        }
        // With `fill`, a side that is not given keeps its length.
        let x = across ?? (fit == "fill" ? .one : down ?? .one)
        let y = down ?? (fit == "fill" ? .one : across ?? .one)
        let scaled = PixelSize(
            width: (enlarges ? x : min(x, .one)).length(size.width),
            height: (enlarges ? y : min(y, .one)).length(size.height))
        guard let width = target.width, let height = target.height else { return Plan(scaled: scaled, side: side) }
        let wanted = PixelSize(width: width, height: height)
        switch fit {
        case "cover" where scaled != wanted:
            return Plan(
                scaled: scaled,
                cut: PixelSize(width: min(width, scaled.width), height: min(height, scaled.height)), side: side)
        case "contain" where scaled != wanted:
            return Plan(
                scaled: scaled,
                canvas: PixelSize(width: max(width, scaled.width), height: max(height, scaled.height)), side: side)
        default:
            return Plan(scaled: scaled, side: side)
        }
    }

    /// The largest part of a picture with a ratio of width to height.
    static func size(_ size: PixelSize, withRatio ratio: Double) -> PixelSize {
        let (width, height) = (Double(size.width), Double(size.height))
        return width / height > ratio
            ? PixelSize(width: max(1, Int((height * ratio).rounded())), height: size.height)
            : PixelSize(width: size.width, height: max(1, Int((width / ratio).rounded())))
    }

    /// The box of a part of a picture at one of nine positions such as `northeast`.
    static func box(of part: PixelSize, in whole: PixelSize, gravity: String) -> Box {
        // As in sharp, the middle is rounded up when a picture is cut.
        let left = offset(whole.width - part.width, gravity, start: "west", end: "east", roundingUp: true)
        let top = offset(whole.height - part.height, gravity, start: "north", end: "south", roundingUp: true)
        return Box(x: left, y: top, width: part.width, height: part.height)
    }

    /// The box of a part of a picture. The middle of the part is as near as possible to `focus`.
    static func box(of part: PixelSize, in whole: PixelSize, focus: FocusPoint) -> Box {
        func offset(_ whole: Int, _ part: Int, _ share: Double) -> Int {
            min(max(Int((Double(whole) * share - Double(part) / 2).rounded()), 0), whole - part)
        }
        return Box(
            x: offset(whole.width, part.width, focus.x), y: offset(whole.height, part.height, focus.y),
            width: part.width, height: part.height)
    }

    /// Places a picture in a larger canvas. The result has the position of the picture and the size of the canvas.
    static func place(_ size: PixelSize, in canvas: PixelSize, gravity: String) -> Box {
        let left = offset(canvas.width - size.width, gravity, start: "west", end: "east", roundingUp: false)
        let top = offset(canvas.height - size.height, gravity, start: "north", end: "south", roundingUp: false)
        return Box(x: left, y: top, width: canvas.width, height: canvas.height)
    }

    private static func offset(_ room: Int, _ gravity: String, start: String, end: String, roundingUp: Bool) -> Int {
        if gravity.hasPrefix(start) || gravity.hasSuffix(start) { return 0 }
        if gravity.hasPrefix(end) || gravity.hasSuffix(end) { return room }
        return (room + (roundingUp ? 1 : 0)) / 2
    }

    /// The factor (1, 2, 4 or 8) by which a decoder can shrink a picture before the scaling. After it,
    /// the scaling still shrinks the picture to a half or less, as in libvips' `thumbnail`: the block averages of
    /// decoders are sharper and alias more than a good kernel.
    static func shrinkOnLoad(_ size: PixelSize, to scaled: PixelSize) -> Int {
        let shrink = min(
            Double(size.width) / Double(scaled.width), Double(size.height) / Double(scaled.height))
        return [8, 4, 2].first { shrink >= Double(2 * $0) } ?? 1
    }
}
