import FuzzSupport

@testable import DarkroomRecipes

/// Makes random valid chains, settings and recipes.
struct RandomChains {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func chain() -> [PhotoFilter] { (0..<generator.number(in: 0..<6)).map { _ in photoFilter() } }

    mutating func recipe() -> [PhotoRendition] {
        (0..<generator.number(in: 1..<5)).map {
            PhotoRendition("Rendition-\($0).x", filters: chain(), encoding: settings())
        }
    }

    private mutating func photoFilter() -> PhotoFilter {
        generator.chance(20)
            ? .custom("stamp_\(generator.number(in: 0..<3))", arguments: text(0..<20))
            : PhotoFilter(filter(generator.pick(Filter.Kind.allCases)))
    }

    private mutating func filter(_ kind: Filter.Kind) -> Filter {
        while true {
            var given: [String: ParameterValue] = [:]
            for parameter in kind.definition.parameters {
                if case .required = parameter.need {} else if generator.chance(60) { continue }
                given[parameter.name] = value(parameter.kind)
            }
            if kind.definition.rule(GivenArguments(values: given)) == nil { return Filter(kind, given: given) }
        }
    }

    private mutating func value(_ kind: ValueKind) -> ParameterValue {
        switch kind {
        case .number(let range, _, let step): .number(number(in: range, step))
        case .numbers(let counts, let range):
            .numbers((0..<generator.pick(counts)).map { _ in number(in: range, .any) })
        case .flag: .flag(generator.chance(50))
        case .choice(let words): .choice(generator.pick(words))
        case .colour(let words, let isOpaque):
            !words.isEmpty && generator.chance(30)
                ? .choice(generator.pick(words)) : .colour(colour(isOpaque: isOpaque))
        case .size: .size(size())
        case .area:
            switch generator.number(in: 0..<3) {
            case 0: .area(.box(width: side(), height: side(), x: side() - 1, y: side()))
            case 1: .area(.size(size()))
            default: .area(.ratio(ratio()))
            }
        case .ratio: .ratio(ratio())
        case .point: .point(FocusPoint(x: number(in: 0...1, .any), y: number(in: 0...1, .any)))
        case .text(let maxScalars): .text(text(0..<min(maxScalars, 12)) + "x")
        }
    }

    private mutating func number(in range: ClosedRange<Double>, _ step: NumberStep) -> Double {
        let number =
            switch generator.number(in: 0..<4) {
            case 0: generator.chance(50) ? range.lowerBound : range.upperBound
            case 1: Double.random(in: range, using: &generator)
            case 2: range.lowerBound.nextUp
            // The sum with 0 replaces -0, which the parser never returns.
            default: (Double.random(in: range, using: &generator) * 10).rounded() / 10 + 0
            }
        switch step {
        case .any: return min(max(number, range.lowerBound), range.upperBound)
        case .whole: return number.rounded(.down)
        case .odd: return Double(Int(number) / 2 * 2 + 1)
        }
    }

    private mutating func side() -> Int { generator.pick([1, 2, 600, 65_535, generator.number(in: 1..<65_536)]) }

    private mutating func size() -> PhotoSize {
        switch generator.number(in: 0..<3) {
        case 0: PhotoSize(width: side(), height: nil)
        case 1: PhotoSize(width: nil, height: side())
        default: PhotoSize(width: side(), height: side())
        }
    }

    private mutating func ratio() -> AspectRatio {
        generator.pick([
            AspectRatio(width: 16, height: 9), AspectRatio(width: 1, height: 1), AspectRatio(width: 1.5, height: 1),
            AspectRatio(width: 2.35, height: 1.5), AspectRatio(width: 1, height: 0.1),
        ])
    }

    private mutating func colour(isOpaque: Bool) -> Colour {
        let numbers = (0..<4).map { _ in UInt8(generator.number(in: 0..<256)) }
        return Colour(
            red: numbers[0], green: numbers[1], blue: numbers[2],
            alpha: isOpaque || generator.chance(50) ? 255 : numbers[3])
    }

    private mutating func text(_ lengths: Range<Int>) -> String {
        let pieces = [
            "a", "Z", "7", "-", "_", "/", ".", "%", "#", "é", "e\u{301}", "写", "👩‍👧", "\u{A0}", "\u{200F}", " ", ",", ";",
            ":",
            "=", "\"", "\\", "none", "x:", "text:", "yes",
        ]
        return (0..<generator.number(in: lengths)).map { _ in generator.pick(pieces) }.joined()
    }

    private mutating func settings() -> PhotoEncoding {
        var settings = PhotoEncoding()
        let chance = generator.pick([0, 30, 100])
        var isGiven: Bool { generator.chance(chance) }
        if isGiven {
            settings.format = generator.pick([
                .same, .fixed(generator.pick(ImageFormat.allCases)), .automatic([.webp]), .automatic([.jpeg, .avif]),
            ])
        }
        if isGiven { settings.quality = generator.number(in: 1..<101) }
        if isGiven { settings.lossless = generator.chance(50) }
        if isGiven { settings.effort = generator.number(in: 0..<10) }
        if isGiven { settings.progressive = generator.chance(50) }
        if isGiven { settings.chroma = generator.pick(PhotoEncoding.ChromaSubsampling.allCases) }
        if isGiven { settings.palette = generator.chance(50) }
        if isGiven { settings.maxBytes = generator.pick([100, 1000, 1024, 2_000_000, 123_456_789]) }
        if isGiven {
            settings.metadata = MetadataSelection(
                Set(MetadataSelection.Item.allCases.filter { _ in generator.chance(50) }),
                keepsGPS: generator.chance(50))
        }
        if isGiven { settings.background = colour(isOpaque: true) }
        if isGiven { settings.srgb = generator.chance(50) }
        if isGiven { settings.hdr = generator.chance(50) ? .fail : .toneMap }
        return settings
    }
}
