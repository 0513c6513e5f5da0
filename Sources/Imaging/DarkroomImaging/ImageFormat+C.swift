internal import CImaging
import DarkroomRecipes

extension ImageFormat {
    var c: darkroom_format {
        switch self {
        case .jpeg: DARKROOM_JPEG
        case .png: DARKROOM_PNG
        case .webp: DARKROOM_WEBP
        case .avif: DARKROOM_AVIF
        case .heic: DARKROOM_HEIC
        case .jxl: DARKROOM_JXL
        case .tiff: DARKROOM_TIFF
        case .gif: DARKROOM_GIF
        }
    }

    init(_ format: darkroom_format) {
        guard let found = Self.allCases.first(where: { $0.c == format }) else {
            preconditionFailure("the cases are those of enum darkroom_format")
        }
        self = found
    }
}
