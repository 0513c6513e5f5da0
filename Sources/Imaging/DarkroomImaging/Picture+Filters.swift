internal import CImaging
import DarkroomRecipes

/// Applies the filters of a chain to pictures: to one photo, or to each frame of an animation.
///
/// All frames use the values that were found for the first frame: boxes that depend on the content, such as those of
/// `crop` by attention, the levels of `normalize`, and the scaled watermarks.
final class ChainApplication {
    private let filters: [Filter]
    private let watermarks: Watermarks
    private let originalSize: PixelSize
    // The values that were found for the first frame, keyed by the position of the filter.
    private var boxes: [Int: Box?] = [:]
    private var levels: [Int: darkroom_point?] = [:]
    private var marks: [Int: Picture] = [:]

    /// - Parameter originalSize: The size of the photo, which the decoder may have shrunk.
    init(_ filters: [Filter], _ watermarks: Watermarks, originalSize: PixelSize) {
        self.filters = filters
        self.watermarks = watermarks
        self.originalSize = originalSize
    }

    /// Changes a picture, and returns it.
    func applied(to picture: Picture) throws(ImagingError) -> Picture {
        var points: [darkroom_point] = []
        for (position, filter) in filters.enumerated() {
            if let point = filter.point {
                points.append(point)
            } else if filter.kind == .normalize {
                // The levels are those of the filtered pixels, which are rounded only after the last point.
                let point = try remembered(\.levels, position) { () throws(ImagingError) in
                    try picture.normalization(filter, after: points)
                }
                if let point { points.append(point) }
            } else {
                try flush(&points, to: picture)
                try apply(filter, at: position, to: picture)
            }
        }
        try flush(&points, to: picture)
        return picture
    }

    private func flush(_ points: inout [darkroom_point], to picture: Picture) throws(ImagingError) {
        guard !points.isEmpty else { return }
        try picture.apply(points)
        points = []
    }

    private func apply(_ filter: Filter, at position: Int, to picture: Picture) throws(ImagingError) {
        switch filter.kind {
        case .resize: try resize(picture, filter, at: position)
        case .crop: try crop(picture, filter, at: position)
        case .trim:
            let box = try remembered(\.boxes, position) { () throws(ImagingError) in
                try picture.trimBox(
                    threshold: filter.number("threshold"), background: filter.optionalColour("background"))
            }
            if let box { try picture.extract(box) }
        case .extend: try picture.extend(filter)
        case .rotate: try picture.rotate(filter)
        case .flip: try picture.mirror(leftRight: false)
        case .flop: try picture.mirror(leftRight: true)
        case .watermark:
            let mark = try remembered(\.marks, position) { () throws(ImagingError) in
                try watermarks.mark(filter, for: picture)
            }
            try picture.draw(mark, filter)
        default: try picture.filterTexture(filter)
        }
    }

    private func remembered<Value>(
        _ values: ReferenceWritableKeyPath<ChainApplication, [Int: Value]>, _ position: Int,
        _ find: () throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        if let value = self[keyPath: values][position] { return value }
        let value = try find()
        self[keyPath: values][position] = value
        return value
    }

    private func resize(_ picture: Picture, _ filter: Filter, at position: Int) throws(ImagingError) {
        // The sizes follow from the size of the photo, and not from the rounded size of a shrunk photo.
        let plan = filter.plan(for: position == 0 ? originalSize : picture.size)
        try picture.resize(by: plan, kernel: filter.kernel, linear: filter.flag("linear"))
        if let cut = plan.cut, let box = try box(of: cut, in: picture, filter, at: position) {
            try picture.extract(box)
        }
        if let canvas = plan.canvas {
            let place = ResizeRules.place(picture.size, in: canvas, gravity: filter.nineGravity)
            try picture.embed(in: place, background: filter.colour("background"))
        }
    }

    private func crop(_ picture: Picture, _ filter: Filter, at position: Int) throws(ImagingError) {
        let whole = picture.size
        switch filter.area("area") {
        case .box(let width, let height, let x, let y):
            let (right, bottom) = (x.addingReportingOverflow(width), y.addingReportingOverflow(height))
            guard !right.overflow, !bottom.overflow, right.partialValue <= whole.width,
                bottom.partialValue <= whole.height
            else { throw outside(filter, whole) }
            try picture.extract(Box(x: x, y: y, width: width, height: height))
        case .size(let size):
            let part = PixelSize(width: size.width ?? whole.width, height: size.height ?? whole.height)
            guard part.width <= whole.width, part.height <= whole.height else { throw outside(filter, whole) }
            if let box = try box(of: part, in: picture, filter, at: position) { try picture.extract(box) }
        case .ratio(let ratio):
            let part = ResizeRules.size(whole, withRatio: ratio.quotient)
            if let box = try box(of: part, in: picture, filter, at: position) { try picture.extract(box) }
        }
    }

    private func outside(_ filter: Filter, _ whole: PixelSize) -> ImagingError {
        ImagingError(
            code: .filterFailed,
            detail: "\(filter): the photo has only \(whole.width) x \(whole.height) pixels at this place of the chain")
    }

    private func box(
        of part: PixelSize, in picture: Picture, _ filter: Filter, at position: Int
    ) throws(ImagingError) -> Box? {
        guard filter.dependsOnContent else { return filter.box(of: part, in: picture.size) }
        return try remembered(\.boxes, position) { () throws(ImagingError) in
            try picture.interestingBox(of: part, byAttention: filter.choice("gravity") == "attention")
        }
    }
}

extension Filter {
    /// The sizes of `resize` for a picture.
    func plan(for size: PixelSize) -> ResizeRules.Plan {
        ResizeRules.plan(size, to: self.size("size"), fit: choice("fit"), enlarges: flag("enlarge"))
    }

    var kernel: darkroom_kernel {
        switch choice("kernel") {
        case "nearest": DARKROOM_NEAREST
        case "linear": DARKROOM_LINEAR
        case "cubic": DARKROOM_CUBIC
        case "mitchell": DARKROOM_MITCHELL
        case "lanczos2": DARKROOM_LANCZOS2
        default: DARKROOM_LANCZOS3
        }
    }

    /// Whether the part of a picture that `resize` or `crop` keeps depends on the pixels of the picture.
    var dependsOnContent: Bool { point("focus") == nil && ["attention", "entropy"].contains(choice("gravity")) }

    /// The box of the part that `resize` or `crop` keeps. Valid only if ``dependsOnContent`` is false.
    func box(of part: PixelSize, in whole: PixelSize) -> Box {
        if let focus = point("focus") { return ResizeRules.box(of: part, in: whole, focus: focus) }
        return ResizeRules.box(of: part, in: whole, gravity: choice("gravity"))
    }

    /// The gravity of `contain`. `attention` and `entropy` count as `centre`, because they select a part of a photo, and
    /// `contain` keeps the whole photo.
    fileprivate var nineGravity: String { dependsOnContent ? "centre" : choice("gravity") }
}

extension Picture {
    /// The point that stretches the luminances that result from `points`; nil if all luminances are the same.
    func normalization(_ filter: Filter, after points: [darkroom_point]) throws(ImagingError) -> darkroom_point? {
        var (low, high) = (0.0, 1.0)
        try look { raster, interrupt in
            darkroom_raster_percentiles(
                &raster, points, Int32(points.count), filter.number("lower") / 100, filter.number("upper") / 100, &low,
                &high, &interrupt)
        }
        guard high > low else { return nil }
        return .scale(1 / (high - low), plus: -low / (high - low))
    }

    func rotate(_ filter: Filter) throws(ImagingError) {
        let degrees = filter.number("angle")
        if degrees.truncatingRemainder(dividingBy: 90) == 0 {
            try turn(quarters: (Int(degrees / 90) % 4 + 4) % 4)
        } else {
            try rotate(degrees: degrees, background: filter.colour("background"))
        }
    }

    func extend(_ filter: Filter) throws(ImagingError) {
        var box = Box(x: 0, y: 0, width: size.width, height: size.height)
        if let ratio = filter.ratio("ratio")?.quotient {
            let (width, height) = (Double(size.width), Double(size.height))
            box.width = max(size.width, Int((height * ratio).rounded()))
            box.height = max(size.height, Int((width / ratio).rounded()))
            box = ResizeRules.place(
                size, in: PixelSize(width: box.width, height: box.height), gravity: "centre")
        } else {
            let all = filter.optionalWhole("all") ?? 0
            box.x = filter.optionalWhole("left") ?? all
            box.y = filter.optionalWhole("top") ?? all
            box.width += box.x + (filter.optionalWhole("right") ?? all)
            box.height += box.y + (filter.optionalWhole("bottom") ?? all)
        }
        guard let background = filter.colourOrWord("background") else { return try extendBlurred(to: box) }
        try embed(in: box, background: background)
    }

    /// Places the picture in front of an enlarged and blurred copy of itself.
    private func extendBlurred(to box: Box) throws(ImagingError) {
        let canvas = PixelSize(width: box.width, height: box.height)
        try session.checkSize(width: canvas.width, height: canvas.height)
        try keepInMemory()
        let front = try copy()
        // The blur removes details, so a small copy is enough.
        let longest = 128.0
        let share = min(1, longest / Double(max(canvas.width, canvas.height)))
        let small = PixelSize(
            width: max(1, Int(Double(canvas.width) * share)), height: max(1, Int(Double(canvas.height) * share)))
        let part = ResizeRules.size(size, withRatio: Double(canvas.width) / Double(canvas.height))
        try extract(ResizeRules.box(of: part, in: size, gravity: "centre"))
        try resize(to: small, kernel: DARKROOM_LANCZOS3)
        try edit { raster, interrupt in darkroom_raster_blur(&raster, 3, &interrupt) }
        try resize(to: canvas, kernel: DARKROOM_CUBIC)
        try draw(front, x: box.x, y: box.y)
    }

    /// Draws a picture with the same bands and bits over this picture.
    func draw(_ top: Picture, x: Int, y: Int) throws(ImagingError) {
        try draw(top, at: CollectionOfOne((x: x, y: y)), opacity: 1)
    }

    func draw(
        _ top: Picture, at places: some Sequence<(x: Int, y: Int)>, opacity: Double
    ) throws(ImagingError) {
        var drawn = darkroom_raster()
        try session.check(darkroom_look(top.c, &drawn))
        try edit { raster, interrupt in
            for place in places {
                let status = darkroom_raster_overlay(
                    &raster, &drawn, Int32(clamping: place.x), Int32(clamping: place.y), opacity, &interrupt)
                if status != DARKROOM_DONE { return status }
            }
            return DARKROOM_DONE
        }
    }

    func filterTexture(_ filter: Filter) throws(ImagingError) {
        switch filter.kind {
        case .blur:
            try edit { raster, interrupt in darkroom_raster_blur(&raster, filter.number("sigma"), &interrupt) }
        case .sharpen:
            try edit { raster, interrupt in
                darkroom_raster_sharpen(
                    &raster, filter.number("sigma"), filter.number("amount"), filter.number("threshold"), &interrupt)
            }
        case .median:
            try edit { raster, interrupt in
                darkroom_raster_median(&raster, Int32(filter.whole("size")), &interrupt)
            }
        case .pixelate:
            try edit { raster, interrupt in
                darkroom_raster_pixelate(&raster, Int32(filter.whole("size")), &interrupt)
            }
        case .vignette:
            let colour = filter.colour("colour")
            if !colour.isGrey { try makeRGB() }
            try edit { raster, interrupt in
                darkroom_raster_vignette(
                    &raster, filter.number("amount"), filter.number("radius"), Double(colour.red) / 255,
                    Double(colour.green) / 255, Double(colour.blue) / 255, &interrupt)
            }
        case .tiltShift:
            try edit { raster, interrupt in
                darkroom_raster_tilt_shift(
                    &raster, filter.number("radius"), filter.number("position"), filter.number("angle"),
                    filter.number("width"), filter.number("fade"), &interrupt)
            }
        default: preconditionFailure("\(filter.kind) is applied elsewhere")
        }
    }
}
