import DarkroomRecipes

/// The formats that the installed libvips can read.
extension Imaging {
    /// The formats of which libvips can read a sample. The first call reads the samples.
    package static let readableFormats = Set(
        ImageFormat.allCases.filter { format in
            // An error means that the library of the format is missing.
            (try? develop(SamplePhoto.bytes(format), DevelopOptions(filters: [], format: .png))) != nil
        })

    /// The value of the request header `Accept` for these formats. Everything else is accepted with a lower rank,
    /// because some servers reply with status 406 if they can send none of the named types.
    package static func accept(_ formats: Set<ImageFormat> = readableFormats) -> String {
        let types = ImageFormat.allCases.filter(formats.contains).flatMap(\.mediaTypes)
        return (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ",")
    }
}

extension ImageFormat {
    /// The media types of the format (IANA registry).
    fileprivate var mediaTypes: [String] { self == .heic ? ["image/heic", "image/heif"] : ["image/\(rawValue)"] }
}
