extension Filter.Kind {
    /// The parameters and rules of the filter.
    package var definition: FilterDefinition {
        switch self {
        case .sepia: .sepia
        case .grayscale: .grayscale
        case .saturate: .saturate
        case .hueRotate: .hueRotate
        case .invert: .invert
        case .brightness: .brightness
        case .contrast: .contrast
        case .gamma: .gamma
        case .tint: .tint
        case .duotone: .duotone
        case .normalize: .normalize
        case .matrix: .matrix
        case .resize: .resize
        case .crop: .crop
        case .trim: .trim
        case .extend: .extend
        case .rotate: .rotate
        case .flip: .flip
        case .flop: .flop
        case .blur: .blur
        case .sharpen: .sharpen
        case .median: .median
        case .pixelate: .pixelate
        case .vignette: .vignette
        case .tiltShift: .tiltShift
        case .watermark: .watermark
        }
    }
}
